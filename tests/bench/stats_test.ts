import { assertEquals, assertThrows } from "@std/assert";
import { median, quantile, ratioOf, slope } from "./stats.ts";

Deno.test("median is the middle value, and the lower one of two", () => {
  assertEquals(median([9, 1, 5]), 5);
  assertEquals(median([4, 3]), 3);
});

Deno.test("quantile gives the least, the greatest and those between", () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  assertEquals([0, 0.5, 0.99, 1].map((share) => quantile(values, share)), [1, 50, 99, 100]);
  assertThrows(() => quantile([], 0.5), RangeError);
});

Deno.test("ratioOf compares round by round, so that a slow round of both changes nothing", () => {
  assertEquals(ratioOf([1, 20, 3], [2, 40, 6]), { median: 0.5, q1: 0.5, q3: 0.5 });
  assertEquals(ratioOf([1, 2, 3], [1, 1, 1]), { median: 2, q1: 1, q3: 3 });
});

Deno.test("slope is the growth per step, whatever the values scatter", () => {
  assertEquals(slope([[0, 10], [1, 12], [2, 14]]), 2);
  assertEquals(slope([[0, 5], [1, 7], [2, 5], [3, 7]]), 0.4);
});
