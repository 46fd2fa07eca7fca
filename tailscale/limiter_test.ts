import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { RateLimited } from "./errors.ts";
import { RateLimiter } from "./limiter.ts";
import { errorOf, until } from "./testing.ts";

function timed(clock: FakeClock, limiter: RateLimiter, count: number): number[] {
  const start = clock.now();
  const at: number[] = [];
  for (let i = 0; i < count; i++) {
    void limiter.acquire("x").then(() => at.push(clock.now() - start));
  }
  return at;
}

async function step(clock: FakeClock, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.advance(1_000);
    await Promise.resolve();
    await Promise.resolve();
  }
}

Deno.test("ten calls go at once, then one each second, first come first served", async () => {
  const clock = new FakeClock();
  const at = timed(clock, new RateLimiter({ clock }), 13);
  await until(() => at.length === 10);
  await step(clock, 5);
  await until(() => at.length === 13);
  assertEquals(at, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1000, 2000, 3000]);
});

Deno.test("in any minute at most burst and sustained rate together are let go", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock });
  let gone = 0;
  let refused = 0;
  for (let second = 0; second < 60; second++) {
    for (let i = 0; i < 5; i++) void limiter.acquire("x").then(() => gone++, () => refused++);
    await step(clock, 1);
  }
  assert(gone <= 10 + 60, `${gone} went`);
  assert(gone >= 60, `only ${gone} went`);
  assertEquals(refused > 0, true);
});

Deno.test("an idle bucket fills to its burst and no further", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock, burst: 2 });
  await limiter.acquire("x");
  await limiter.acquire("x");
  clock.advance(3_600_000);
  const at = timed(clock, limiter, 3);
  await until(() => at.length === 2);
  assertEquals(clock.pending, 1);
  await step(clock, 1);
  await until(() => at.length === 3);
  assertEquals(at, [0, 0, 1000]);
});

Deno.test("a wait that would be too long is refused, with its length", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock, burst: 1, maxWaitMs: 2_000 });
  const at = timed(clock, limiter, 3);
  const error = await errorOf(limiter.acquire("GET /devices"));
  assertInstanceOf(error, RateLimited);
  assertEquals(error.retryAfterMs, 3_000);
  assert(error.message.startsWith("GET /devices: not sent"));
  await step(clock, 2);
  await until(() => at.length === 3);
});

Deno.test("a pause refuses at once those who come and those who wait, for as long as asked", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock, burst: 1 });
  await limiter.acquire("first");
  const waiting = limiter.acquire("second");
  limiter.pause(37_000);
  limiter.pause(5_000); // a shorter one shortens nothing
  await assertRejects(() => limiter.acquire("third"), RateLimited, "37 s");
  clock.advance(1_000);
  await assertRejects(() => waiting, RateLimited, "36 s");
  clock.advance(35_999);
  await assertRejects(() => limiter.acquire("fourth"), RateLimited);
  clock.advance(1);
  await limiter.acquire("fifth");
});

Deno.test("figure 13: a clock that is set back an hour holds nobody for an hour", async () => {
  let now = 10_000_000;
  const clock = { now: () => now, setTimer: () => () => {} };
  const limiter = new RateLimiter({ clock, burst: 2 });
  await limiter.acquire("x");
  limiter.pause(5_000);
  now -= 3_600_000;
  assertEquals(limiter.pausedMs, 5_000);
  now += 5_000;
  assertEquals(limiter.pausedMs, 0);
  await limiter.acquire("x");
});

Deno.test("a caller who gives up waits no longer", async () => {
  const clock = new FakeClock();
  const limiter = new RateLimiter({ clock, burst: 1 });
  await limiter.acquire("x");
  const controller = new AbortController();
  const waiting = limiter.acquire("x", controller.signal);
  controller.abort(new Error("gone"));
  await assertRejects(() => waiting, Error, "gone");
  assertEquals(clock.pending, 0);
});
