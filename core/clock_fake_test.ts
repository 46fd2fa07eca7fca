import { assertEquals } from "@std/assert";
import { FakeClock } from "./clock_fake.ts";

Deno.test("FakeClock fires timers in the order of their times, each at its own", () => {
  const clock = new FakeClock(1_000);
  const fired: [string, number][] = [];
  const at = (name: string, ms: number) =>
    clock.setTimer(() => fired.push([name, clock.now()]), ms);
  at("late", 30);
  at("early", 10);
  at("same", 10);
  at("never", 51);
  clock.advance(50);
  assertEquals(fired, [["early", 1_010], ["same", 1_010], ["late", 1_030]]);
  assertEquals([clock.now(), clock.pending], [1_050, 1]);
});

Deno.test("FakeClock fires a timer that a timer sets, if it falls into the advance", () => {
  const clock = new FakeClock(0);
  const fired: number[] = [];
  const again = () => {
    fired.push(clock.now());
    clock.setTimer(again, 20);
  };
  clock.setTimer(again, 20);
  clock.advance(70);
  assertEquals(fired, [20, 40, 60]);
});

Deno.test("FakeClock does not fire a timer that was cancelled", () => {
  const clock = new FakeClock(0);
  let fired = false;
  const cancel = clock.setTimer(() => fired = true, 10);
  cancel();
  cancel();
  clock.advance(20);
  assertEquals([fired, clock.pending], [false, 0]);
});

Deno.test("FakeClock fires a timer of the past at once, without going back", () => {
  const clock = new FakeClock(100);
  let firedAt = 0;
  clock.setTimer(() => firedAt = clock.now(), -50);
  clock.advance(0);
  assertEquals(firedAt, 100);
});
