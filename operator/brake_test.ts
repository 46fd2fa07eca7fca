import { assertEquals } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { Brake } from "./brake.ts";

Deno.test("Brake lets a burst pass, then one run a second", () => {
  const clock = new FakeClock();
  const brake = new Brake(clock);
  for (let run = 0; run < 30; run++) {
    assertEquals(brake.waitMs("a"), 0);
    brake.spend("a");
  }
  assertEquals(brake.waitMs("a"), 1_000);
  assertEquals(brake.waitMs("b"), 0, "each key by itself");
  clock.advance(1_000);
  assertEquals(brake.waitMs("a"), 0);
  brake.spend("a");
  assertEquals(brake.waitMs("a"), 1_000);
  clock.advance(60_000);
  assertEquals(brake.waitMs("a"), 0);
});

Deno.test("figure 13: Brake holds no key for long when the clock is set back", () => {
  let now = 10_000_000;
  const brake = new Brake({ now: () => now });
  for (let run = 0; run < 40; run++) brake.spend("a");
  now -= 3_600_000;
  assertEquals(brake.waitMs("a"), 0);
});
