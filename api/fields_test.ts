import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { z } from "zod";
import { duration, durationMs, listByKeys, setOf, stringMap } from "./fields.ts";

Deno.test("durationMs() adds up the parts of a duration", () => {
  assertEquals(durationMs("10s"), 10_000);
  assertEquals(durationMs("1h1m1s1ms"), 3_661_001);
  assertEquals(durationMs("5m500ms"), 300_500);
});

Deno.test("durationMs() of any parts is their sum", () => {
  const part = fc.tuple(fc.nat(99_999), fc.constantFrom("h", "m", "s", "ms"));
  const unit = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as Record<string, number>;
  fc.assert(fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
    const text = parts.map(([amount, unit]) => `${amount}${unit}`).join("");
    const sum = parts.reduce((total, [amount, name]) => total + amount * (unit[name] ?? 0), 0);
    assertEquals(durationMs(text), sum);
  }));
});

Deno.test("durationMs() refuses what is no duration, and says how to write one", () => {
  for (const text of ["", "10", "1.5s", "1d", "-1s", "1s1s1s1s1s"]) {
    assertThrows(() => durationMs(text), RangeError, "write it as 30s");
  }
});

Deno.test("duration() is at least a second", () => {
  assertEquals(duration().safeParse("1s").success, true);
  assertEquals(duration().safeParse("999ms").success, false);
});

Deno.test("setOf() refuses an item that is there twice", () => {
  const set = setOf(z.string(), 3);
  assertEquals(set.safeParse(["a", "b"]).success, true);
  assertEquals(set.safeParse(["a", "a"]).success, false);
});

Deno.test("listByKeys() tells items apart by all of their keys", () => {
  const list = listByKeys(z.object({ a: z.int(), b: z.int() }), { keys: ["a", "b"], max: 3 });
  assertEquals(list.safeParse([{ a: 1, b: 1 }, { a: 1, b: 2 }]).success, true);
  assertEquals(list.safeParse([{ a: 1, b: 1 }, { a: 1, b: 1 }]).success, false);
});

Deno.test("stringMap() holds at most 32 entries", () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, "value"]));
  assertEquals(stringMap().safeParse(entries(32)).success, true);
  assertEquals(stringMap().safeParse(entries(33)).success, false);
});
