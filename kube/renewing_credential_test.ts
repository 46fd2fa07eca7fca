import { assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { type Credential, RenewingCredential } from "./renewing_credential.ts";

const HOUR = 3_600_000;

/** A credential of so long a life, numbered. */
class Source {
  readonly clock = new FakeClock();
  readonly credential: RenewingCredential;
  made = 0;
  down = false;

  constructor(readonly lifeMs?: number) {
    this.credential = new RenewingCredential(() => this.#make(), this.clock);
  }

  #make(): Promise<Credential> {
    if (this.down) return Promise.reject(new Error("down"));
    const { lifeMs } = this;
    const expires = lifeMs === undefined ? {} : { expiresAt: this.clock.now() + lifeMs };
    return Promise.resolve({ token: `t${++this.made}`, ...expires });
  }
}

Deno.test("a credential is made once for all who ask, and again a minute before it expires", async () => {
  const { credential, clock } = new Source(HOUR);
  const many = () => Promise.all(Array.from({ length: 20 }, () => credential.token()));
  assertEquals(new Set(await many()), new Set(["t1"]));
  clock.advance(HOUR - 60_001);
  assertEquals(await credential.token(), "t1");
  clock.advance(1);
  assertEquals(new Set(await many()), new Set(["t2"]));
});

Deno.test("a credential of a short life is used for most of it", async () => {
  const { credential, clock } = new Source(20_000);
  await credential.token();
  clock.advance(14_999);
  assertEquals(await credential.token(), "t1");
  clock.advance(1);
  assertEquals(await credential.token(), "t2");
});

Deno.test("a token that was refused is made anew, once for all whom it was refused", async () => {
  const { credential, clock } = new Source();
  await credential.token();
  clock.advance(10_000);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => credential.token("t1")));
  assertEquals(new Set(tokens), new Set(["t2"]));
  assertEquals(await credential.token("t1"), "t2", "the other one is not refused");
});

Deno.test("a token that is refused as soon as it was made is not made over and over", async () => {
  const source = new Source();
  const { credential, clock } = source;
  await credential.token();
  for (let i = 0; i < 10; i++) await credential.token("t1");
  assertEquals(source.made, 1);
  clock.advance(5_000);
  assertEquals(await credential.token("t1"), "t2");
});

Deno.test("while none can be made, one that is valid goes on, and one that is not is an error", async () => {
  const source = new Source(HOUR);
  const { credential, clock } = source;
  await credential.token();
  source.down = true;
  clock.advance(HOUR - 30_000);
  assertEquals(await credential.token(), "t1");
  clock.advance(30_000);
  await assertRejects(() => credential.token(), Error, "down");
  source.down = false;
  assertEquals(await credential.token(), "t2");
});
