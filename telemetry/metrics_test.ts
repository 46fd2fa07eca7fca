import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { Metrics } from "./metrics.ts";

function setUp() {
  const clock = new FakeClock(1_000_000);
  const metrics = new Metrics({
    clock,
    controllers: ["tailscaletailnet"],
    hooks: ["Translation"],
    resources: ["httproutes"],
  });
  return { clock, metrics };
}

/** The values of the text, by series as it is written. */
async function scrape(metrics: Metrics): Promise<Map<string, number>> {
  const { body } = await metrics.text();
  const lines = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => {
    const space = line.lastIndexOf(" ");
    return [line.slice(0, space), Number(line.slice(space + 1))];
  }));
}

Deno.test("M225 every series whose labels are known is there with 0 before anything happens", async () => {
  const series = await scrape(setUp().metrics);
  for (
    const name of [
      'controller_runtime_reconcile_total{controller="tailscaletailnet",result="success"}',
      'controller_runtime_reconcile_total{controller="tailscaletailnet",result="requeue_after"}',
      'controller_runtime_reconcile_total{controller="tailscaletailnet",result="requeue"}',
      'controller_runtime_reconcile_total{controller="tailscaletailnet",result="error"}',
      'controller_runtime_reconcile_errors_total{controller="tailscaletailnet"}',
      'controller_runtime_reconcile_time_seconds_count{controller="tailscaletailnet"}',
      'workqueue_depth{name="tailscaletailnet"}',
      'workqueue_adds_total{name="tailscaletailnet"}',
      'workqueue_retries_total{name="tailscaletailnet"}',
      'workqueue_queue_duration_seconds_count{name="tailscaletailnet"}',
      'workqueue_work_duration_seconds_count{name="tailscaletailnet"}',
      'tailscale_gateway_hook_calls_total{hook="Translation",result="success"}',
      'tailscale_gateway_hook_calls_total{hook="Translation",result="error"}',
      'tailscale_gateway_hook_duration_seconds_count{hook="Translation"}',
      "tailscale_gateway_last_hook_call_timestamp_seconds",
      'tailscale_gateway_watch_last_event_age_seconds{resource="httproutes"}',
      "tailscale_gateway_snapshot_rebuilds_total",
      "tailscale_gateway_unknown_cluster_names_total",
    ]
  ) assertEquals(series.get(name), 0, name);
});

Deno.test("reconciles are counted with controller-runtime's results", async () => {
  const { metrics } = setUp();
  metrics.reconciled("tailscaletailnet", "success", 20);
  metrics.reconciled("tailscaletailnet", "error", 1500);
  metrics.reconciled("tailscaletailnet", "terminal", 1);
  const series = await scrape(metrics);
  const of = (name: string) => series.get(`controller_runtime_${name}`);
  assertEquals(of('reconcile_total{controller="tailscaletailnet",result="success"}'), 1);
  assertEquals(of('reconcile_total{controller="tailscaletailnet",result="error"}'), 2);
  assertEquals(of('reconcile_errors_total{controller="tailscaletailnet"}'), 2);
  assertEquals(of('terminal_reconcile_errors_total{controller="tailscaletailnet"}'), 1);
  assertEquals(of('reconcile_time_seconds_sum{controller="tailscaletailnet"}'), 1.521);
  assertEquals(of('reconcile_time_seconds_bucket{le="0.025",controller="tailscaletailnet"}'), 2);
});

Deno.test("a queue reports its depth at each scrape, and what became of its keys", async () => {
  const { metrics } = setUp();
  const keys = ["a", "b"];
  const queue = metrics.queue("tailscaletailnet", () => keys.length);
  queue.added();
  queue.added();
  queue.started(250);
  queue.finished(50);
  queue.retried();
  assertEquals((await scrape(metrics)).get('workqueue_depth{name="tailscaletailnet"}'), 2);
  keys.pop();
  const series = await scrape(metrics);
  assertEquals(series.get('workqueue_depth{name="tailscaletailnet"}'), 1);
  assertEquals(series.get('workqueue_adds_total{name="tailscaletailnet"}'), 2);
  assertEquals(series.get('workqueue_retries_total{name="tailscaletailnet"}'), 1);
  assertEquals(series.get('workqueue_queue_duration_seconds_sum{name="tailscaletailnet"}'), 0.25);
  assertEquals(series.get('workqueue_work_duration_seconds_sum{name="tailscaletailnet"}'), 0.05);
});

Deno.test("requests to the Tailscale API are counted by tailnet and status", async () => {
  const { metrics } = setUp();
  metrics.tailscaleRequest("corp", 200);
  metrics.tailscaleRequest("corp", 429);
  metrics.tailscaleRequest("corp", "error");
  const series = await scrape(metrics);
  for (const code of ["200", "429", "error"]) {
    const name = `tailscale_gateway_tailscale_api_requests_total{tailnet="corp",code="${code}"}`;
    assertEquals(series.get(name), 1, name);
  }
});

Deno.test("one snapshot version stands at a time, beside the number of rebuilds", async () => {
  const { metrics } = setUp();
  metrics.snapshotBuilt("v1");
  metrics.snapshotBuilt("v2");
  const series = await scrape(metrics);
  assertFalse(series.has('tailscale_gateway_snapshot_version{version="v1"}'));
  assertEquals(series.get('tailscale_gateway_snapshot_version{version="v2"}'), 1);
  assertEquals(series.get("tailscale_gateway_snapshot_rebuilds_total"), 2);
});

Deno.test("M230 ages of watches, store sizes, hook calls and foreign names follow what happens", async () => {
  const { clock, metrics } = setUp();
  let size = 3;
  let lastEventAt = 0;
  metrics.store("httproutes", () => size);
  metrics.watch("httproutes", () => lastEventAt);
  clock.advance(4000);
  metrics.hookCalled({ hook: "Translation", durationMs: 3 });
  metrics.unknownClusterNames(2);
  size = 5;
  const before = await scrape(metrics);
  assertEquals(
    before.get('tailscale_gateway_watch_last_event_age_seconds{resource="httproutes"}'),
    4,
  );
  lastEventAt = clock.now() - 500;
  const series = await scrape(metrics);
  assertEquals(
    series.get('tailscale_gateway_watch_last_event_age_seconds{resource="httproutes"}'),
    0.5,
  );
  assertEquals(series.get('tailscale_gateway_cached_objects{resource="httproutes"}'), 5);
  assertEquals(series.get("tailscale_gateway_last_hook_call_timestamp_seconds"), 1004);
  assertEquals(series.get("tailscale_gateway_unknown_cluster_names_total"), 2);
});

Deno.test("the process is measured, and each metric has its help", async () => {
  const { metrics } = setUp();
  const series = await scrape(metrics);
  assertEquals(series.get("process_start_time_seconds"), 1000);
  assert(series.get("process_resident_memory_bytes")! > 0);
  assert(series.get("process_heap_bytes")! > 0);
  assert(series.get("process_cpu_seconds_total")! > 0);
  const { body, contentType } = await metrics.text();
  assertStringIncludes(contentType, "text/plain");
  for (const [line] of body.matchAll(/^# TYPE (\S+)/gm)) {
    assertStringIncludes(body, line.replace("TYPE", "HELP"));
  }
});

Deno.test("two registries do not know of each other", async () => {
  const one = setUp().metrics;
  const other = setUp().metrics;
  one.unknownClusterNames(1);
  const series = await scrape(other);
  assertEquals(series.get("tailscale_gateway_unknown_cluster_names_total"), 0);
});
