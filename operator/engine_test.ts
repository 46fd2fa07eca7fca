import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import type { Action, Controller, Plan } from "../controllers/controller.ts";
import type { World } from "../controllers/world.ts";
import { CONFIG_MAP } from "../api/resources.ts";
import { EmbeddedApiServer } from "../embedded/apiserver/mod.ts";
import { KubeClient } from "../kube/client.ts";
import { EventRecorder } from "../kube/events.ts";
import { handlerTransport } from "../kube/transport.ts";
import { createLog } from "../telemetry/log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { ActionRunner } from "./actions.ts";
import { AuthKeys } from "./auth_keys.ts";
import { ClusterCache } from "./cache.ts";
import { Engine } from "./engine.ts";
import { Tailnets } from "./tailnets.ts";

const KEY = "default/a";
const APPLY: Action = {
  do: "apply",
  type: CONFIG_MAP,
  object: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", namespace: "default" },
  },
};

/** An engine whose controller plans what the test says. */
function setUp(plan: (run: number) => Plan) {
  const clock = new FakeClock();
  const api = new EmbeddedApiServer({ clock });
  const logs: string[] = [];
  const log = createLog({ level: "debug", write: (line) => void logs.push(line), clock });
  const client = new KubeClient(handlerTransport((request) => api.handle(request), { clock }));
  const metrics = new Metrics({ clock });
  const cache = new ClusterCache({
    client,
    clock,
    log,
    metrics,
    types: [CONFIG_MAP],
    onSecretKnown() {},
  });
  const tailnets = new Tailnets({ clock, log, metrics, userAgent: "test" });
  const events = new EventRecorder({ client, clock, component: "test", instance: "test", log });
  const parts = { client, cache, tailnets, events, clock, log, metrics };
  let runs = 0;
  const controller: Controller = {
    name: "test",
    type: CONFIG_MAP,
    mappings: [],
    makes: [],
    observe: () => true,
    plan: () => plan(++runs),
  };
  const keys = new AuthKeys(parts);
  const engine = new Engine({
    ...parts,
    controller,
    world: () => ({}) as World,
    runner: new ActionRunner({ ...parts, keys }, "test"),
    random: () => 1,
  });
  cache.onChange((type, change) => engine.changed(type, change));
  const writes = () => api.requests.filter(({ method }) => method === "PATCH").length;
  return { clock, api, engine, logs, writes, runs: () => runs };
}

/** Runs the engine while the test goes on. */
async function running(engine: Engine, test: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const ended = engine.run(stop.signal);
  try {
    await test();
  } finally {
    stop.abort();
    await ended;
  }
}

/** Lets everything that is due happen. */
async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("a fault of our own is logged, and tried again later and later", async () => {
  const { engine, clock, logs, runs } = setUp(() => {
    throw new TypeError("x is undefined");
  });
  await running(engine, async () => {
    engine.add(KEY);
    await settle();
    assertEquals(runs(), 1);
    assert(logs.some((line) => line.includes("x is undefined") && line.includes(KEY)));
    for (const [wait, expected] of [[1_000, 2], [1_000, 2], [1_000, 3], [4_000, 4]] as const) {
      clock.advance(wait);
      await settle();
      assertEquals(runs(), expected);
    }
  });
});

Deno.test("a plan that names a time that is over does not run hot", async () => {
  const { engine, clock, runs } = setUp(() => ({ actions: [], wakeAt: 0 }));
  await running(engine, async () => {
    engine.add(KEY);
    await settle();
    const before = runs();
    for (let second = 0; second < 10; second++) {
      clock.advance(1_000);
      await settle();
    }
    assert(runs() - before <= 2 * 10, `${runs()} plans`);
  });
});

Deno.test("an action that failed is held back whatever happens, and another is tried at once", async () => {
  const other: Action = {
    ...APPLY,
    object: { ...APPLY.object, metadata: { ...APPLY.object.metadata, labels: { other: "1" } } },
  };
  let action = APPLY;
  const { engine, clock, api, writes } = setUp(() => ({ actions: [action] }));
  await running(engine, async () => {
    const refuse = () =>
      api.failNext({ match: ({ method }) => method === "PATCH", response: { status: 422 } });
    refuse();
    for (let event = 0; event < 10; event++) {
      engine.add(KEY);
      await settle();
    }
    assertEquals(writes(), 1);
    assertEquals(engine.failure(KEY)?.reason, "InvalidSpec");
    action = other;
    refuse();
    engine.add(KEY);
    await settle();
    assertEquals(writes(), 2);
    clock.advance(60_000);
    await settle();
    assert(writes() > 2);
    assertEquals(engine.failure(KEY), undefined);
  });
});

Deno.test("an object that somebody keeps undoing is written once a second at most", async () => {
  let run = 0;
  const { engine, clock, logs, writes } = setUp(() => {
    const labels = { run: String(run++) }; // never satisfied
    const metadata = { ...APPLY.object.metadata, labels };
    return { actions: [{ ...APPLY, object: { ...APPLY.object, metadata } }] };
  });
  await running(engine, async () => {
    engine.add(KEY);
    for (let i = 0; i < 100; i++) await settle();
    assert(writes() <= 30, `${writes()} writes at once`);
    const before = writes();
    for (let second = 0; second < 20; second++) {
      clock.advance(1_000);
      await settle();
    }
    assert(writes() - before <= 21, `${writes() - before} writes in 20 s`);
    assert(logs.some((line) => line.includes("acted on too often")));
  });
});

Deno.test("the end waits for the work that runs", async () => {
  const { engine, api, writes } = setUp(() => ({ actions: [APPLY] }));
  api.failNext({ match: ({ method }) => method === "PATCH", response: "hang" });
  const stop = new AbortController();
  let over = false;
  const ended = engine.run(stop.signal).then(() => over = true);
  engine.add(KEY);
  await settle();
  stop.abort();
  await settle();
  assertEquals([over, engine.inFlight], [false, 1]);
  api.clearFaults();
  await ended;
  assertEquals(writes(), 1);
});
