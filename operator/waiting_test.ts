import { assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { within } from "./waiting.ts";

Deno.test("within() waits for the promise, for the time or for the signal, and leaves no timer", async () => {
  const clock = new FakeClock();
  const never = new Promise<void>(() => {});
  assertEquals(await within(Promise.resolve(), { clock, ms: 10 }), true);
  assertEquals(clock.pending, 0);
  const late = within(never, { clock, ms: 10 });
  clock.advance(10);
  assertEquals(await late, false);
  const stop = new AbortController();
  const stopped = within(never, { clock, ms: 10, signal: stop.signal });
  stop.abort();
  assertEquals(await stopped, false);
  assertEquals(await within(never, { clock, signal: stop.signal }), false);
  await assertRejects(() => within(Promise.reject(new Error("no")), { clock, ms: 10 }));
  assertEquals(clock.pending, 0);
});
