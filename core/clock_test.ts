import { assertEquals } from "@std/assert";
import { sleep } from "./clock.ts";
import { FakeClock } from "./clock_fake.ts";

/** How a promise stands once what is due has run. */
async function stateOf(promise: Promise<void>): Promise<string> {
  const pending = new Promise<string>((resolve) => queueMicrotask(() => resolve("pending")));
  return await Promise.race([
    promise.then(() => "resolved", (reason) => `rejected: ${reason}`),
    pending.then((state) => state),
  ]);
}

Deno.test("sleep() resolves when its time has come, and not before", async () => {
  const clock = new FakeClock();
  const slept = sleep(clock, 1_000);
  clock.advance(999);
  assertEquals(await stateOf(slept), "pending");
  clock.advance(1);
  assertEquals(await stateOf(slept), "resolved");
});

Deno.test("sleep() rejects with the signal's reason and leaves no timer", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const slept = sleep(clock, 1_000, stop.signal);
  stop.abort("stopped");
  assertEquals(await stateOf(slept), "rejected: stopped");
  assertEquals(clock.pending, 0);
});

Deno.test("sleep() with a signal that is aborted already sets no timer", async () => {
  const clock = new FakeClock();
  assertEquals(await stateOf(sleep(clock, 1, AbortSignal.abort("gone"))), "rejected: gone");
  assertEquals(clock.pending, 0);
});

Deno.test("sleep() that has ended is not touched by a later abort", async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const slept = sleep(clock, 1, stop.signal);
  clock.advance(1);
  stop.abort();
  assertEquals(await stateOf(slept), "resolved");
});
