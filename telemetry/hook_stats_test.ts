import { assertEquals } from "@std/assert";
import { HookStats } from "./hook_stats.ts";

const MINUTE = 60_000;

Deno.test("M224 totals, last and average duration are kept over all and by hook", () => {
  const stats = new HookStats(["Translation", "Route"]);
  stats.add({ hook: "Translation", durationMs: 4 }, 0);
  stats.add({ hook: "Translation", durationMs: 2, error: new Error("x") }, 1);
  stats.add({ hook: "New", durationMs: 6 }, 2);
  assertEquals(stats.report(), {
    totalHookCalls: 3,
    successfulCalls: 2,
    failedCalls: 1,
    lastCallDuration: 6,
    averageCallDuration: 4,
    hookTypeMetrics: {
      Translation: {
        totalHookCalls: 2,
        successfulCalls: 1,
        failedCalls: 1,
        lastCallDuration: 2,
        averageCallDuration: 3,
      },
      Route: {
        totalHookCalls: 0,
        successfulCalls: 0,
        failedCalls: 0,
        lastCallDuration: 0,
        averageCallDuration: 0,
      },
      New: {
        totalHookCalls: 1,
        successfulCalls: 1,
        failedCalls: 0,
        lastCallDuration: 6,
        averageCallDuration: 6,
      },
    },
  });
});

Deno.test("recent() forgets calls that are older than five minutes", () => {
  const stats = new HookStats([]);
  stats.add({ hook: "a", durationMs: 1, error: "x" }, 0);
  for (let minute = 1; minute <= 3; minute++) {
    stats.add({ hook: "a", durationMs: 1 }, minute * MINUTE);
  }
  assertEquals(stats.recent(3 * MINUTE), { calls: 4, failed: 1 });
  assertEquals(stats.recent(5 * MINUTE), { calls: 3, failed: 0 });
  assertEquals(stats.recent(60 * MINUTE), { calls: 0, failed: 0 });
});

Deno.test("recent() remembers five busy minutes at most", () => {
  const stats = new HookStats([]);
  for (let minute = 0; minute < 100; minute++) {
    stats.add({ hook: "a", durationMs: 1 }, minute * MINUTE);
  }
  assertEquals(stats.recent(99 * MINUTE), { calls: 5, failed: 0 });
});
