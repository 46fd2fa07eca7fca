import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { RateLimited } from "../tailscale/errors.ts";
import { Limiters } from "./limiters.ts";

Deno.test("M215 a tailnet keeps its limiter over a new client, and others have theirs", async () => {
  const limiters = new Limiters(new FakeClock());
  limiters.of("corp").pause(37_000);
  limiters.release("corp");
  await assertRejects(() => limiters.of("corp").acquire("GET /devices"), RateLimited);
  await limiters.of("other").acquire("GET /devices");
});

Deno.test("limiters of tailnets that are gone are forgotten once they have rested", () => {
  const clock = new FakeClock();
  const limiters = new Limiters(clock);
  const corp = limiters.of("corp");
  limiters.release("corp");
  clock.advance(9 * 60_000);
  limiters.of("other");
  assertEquals(limiters.size, 2);
  clock.advance(2 * 60_000);
  limiters.of("other");
  assertEquals(limiters.size, 1);
  assert(limiters.of("corp") !== corp);
});
