import { assertEquals, assertStringIncludes } from "@std/assert";
import { degradation, Freshness, healthStatus, MAX_CACHE_LAG_MS } from "./health.ts";

const none = { calls: 0, failed: 0 };

Deno.test("M221 more than 10 % failed hook calls is degraded, 10 % is not", () => {
  const at = (calls: number, failed: number) =>
    degradation({ hooks: { calls, failed }, caches: {} }, 0);
  assertEquals(at(0, 0), []);
  assertEquals(at(100, 10), []);
  assertStringIncludes(at(100, 11)[0]!, "11 of the last 100 hook calls failed");
  assertEquals(at(1, 1).length, 1);
});

Deno.test("M222 a config cache that lags more than 10 min behind events is degraded", () => {
  const config = new Freshness();
  config.updated(0);
  config.event(1000);
  config.event(500_000); // the oldest one counts
  const at = (now: number) => degradation({ hooks: none, caches: { config } }, now);
  assertEquals(at(1000 + MAX_CACHE_LAG_MS), []);
  assertStringIncludes(
    at(1001 + MAX_CACHE_LAG_MS)[0]!,
    "the config cache has not taken in events for 10 min",
  );
  config.updated(700_000);
  assertEquals(at(10 * MAX_CACHE_LAG_MS), [], "old, but nothing happened since");
});

Deno.test("M223 an index that lags more than 10 min behind events is degraded, by its name", () => {
  const caches = { config: new Freshness(), "route index": new Freshness() };
  caches["route index"].event(0);
  const reasons = degradation({ hooks: none, caches }, 11 * 60_000);
  assertEquals(reasons.length, 1);
  assertStringIncludes(reasons[0]!, "route index cache has not taken in events for 11 min");
});

Deno.test("Freshness has no lag before any event, and none when the clock steps back", () => {
  const cache = new Freshness();
  assertEquals(cache.lagMs(5), 0);
  assertEquals(cache.updatedAt, undefined);
  cache.event(100);
  assertEquals(cache.lagMs(50), 0);
});

Deno.test("healthStatus() says the worst", () => {
  assertEquals(healthStatus({ notReady: [], degraded: [] }), "ok");
  assertEquals(healthStatus({ notReady: [], degraded: ["x"] }), "degraded");
  assertEquals(healthStatus({ notReady: ["y"], degraded: ["x"] }), "not-ready");
});
