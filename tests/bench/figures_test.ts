import { assertEquals } from "@std/assert";
import { type Figure, figureTable, short, verdictOf } from "./figures.ts";

const figure: Figure = { id: "P0", what: "something", unit: "ms", ours: 4 };
const exact = (median: number) => ({ median, q1: median, q3: median });

Deno.test("verdictOf judges our value by its goal, limits included", () => {
  const goal = { good: 10, ahead: 4, of: "ours" } as const;
  const verdicts = [3, 4, 5, 10, 11].map((ours) => verdictOf({ ...figure, ours, goal }));
  assertEquals(verdicts, ["ahead", "ahead", "good", "good", "short"]);
});

Deno.test("verdictOf judges the ratio where the goal is one, and nothing without a reference", () => {
  const goal = { good: 0.5, ahead: 1, of: "ratio", better: "higher" } as const;
  assertEquals(verdictOf({ ...figure, goal }), "-");
  assertEquals(verdictOf({ ...figure, goal, ratio: exact(1.2) }), "ahead");
  assertEquals(verdictOf({ ...figure, goal, ratio: exact(0.7) }), "good");
  assertEquals(verdictOf({ ...figure, goal, ratio: exact(0.2) }), "short");
  assertEquals(verdictOf(figure), "-");
});

Deno.test("figureTable shows value, reference, ratio, goal and verdict", () => {
  const table = figureTable([
    figure,
    {
      ...figure,
      ours: 7.154,
      reference: { what: "Go", value: 24 },
      ratio: { median: 0.298, q1: 0.29, q3: 0.31 },
      goal: { good: 0.5, ahead: 0.2, of: "ratio" },
    },
  ]);
  assertEquals(table.split("\n").map((line) => line.split(/ {2,}/)), [
    ["ID", "WHAT", "OURS", "REFERENCE", "RATIO", "GOOD/AHEAD", "VERDICT"],
    ["P0", "something", "4 ms", "-", "-", "-", "-"],
    ["P0", "something", "7.15 ms", "24 ms Go", "0.30 (0.29..0.31)", "≤ 0.50 / 0.20", "good"],
  ]);
});

Deno.test("short keeps three digits", () => {
  assertEquals([0.1234, 9.876, 12.34, 123.4, 5000, 0].map(short), [
    "0.12",
    "9.88",
    "12.3",
    "123",
    "5000",
    "0",
  ]);
});
