import { assert, assertEquals } from "@std/assert";
import * as resources from "../api/resources.ts";
import { TYPES_READ } from "../controllers/registry.ts";
import { withWorld } from "./testing/world.ts";
import { endpoints, everything, proxy } from "./testing/objects.ts";
import { bringToReady, CLUSTER, getReady } from "./testing/ready.ts";

Deno.test("an API server that is down at the start is waited for, and said so", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything());
    world.fail({ times: Infinity, response: "reset" });
    world.start();
    await world.until("it tries", () => world.sent.length > 20);
    assertEquals((await world.http("/healthz")).status, 200);
    const ready = await world.http("/ready");
    assertEquals(ready.status, 503);
    assert(/reading .*httproutes.* from the API server: .*reset/.test(ready.text), ready.text);
    world.api.clearFaults();
    world.clock.skip(30_000);
    await bringToReady(world);
    assertEquals((await world.http("/ready")).status, 200);
  }));

Deno.test("figure 7: an API server that is down for a minute takes no host from Envoy, and is caught up with in 10 s", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    world.api.failNext({ response: { status: 503 }, times: Infinity, match: byOperator });
    world.api.closeWatches();
    await world.apply(endpoints(proxy(2)));
    const before = world.sent.length;
    for (let second = 0; second < 60; second += 5) {
      world.clock.skip(5_000);
      await world.quiet();
    }
    const watches = TYPES_READ.length + 3;
    assert(world.sent.length - before < watches * 20, `${world.sent.length - before} requests`);
    assertEquals((await world.translate([CLUSTER])).get(CLUSTER), ["100.64.9.10:8080"]);
    assertEquals((await world.http("/readyz")).status, 200);
    const health = JSON.parse((await world.http("/health")).text);
    assertEquals(health.status, "degraded");
    assert(health.degraded[0].includes("API server"), health.degraded[0]);
    world.api.clearFaults();
    await world.pass(10_000, 1_000);
    assertEquals((await world.tailnet.nodes()).length, 2);
    await bringToReady(world);
    await world.until(
      "the operator is well again",
      async () => JSON.parse((await world.http("/health")).text).status === "ok",
    );
  }));

Deno.test("figure 9: deletions that were missed while watches were too old are noticed", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    world.api.failNext({ response: "reset", times: Infinity, match: byOperator });
    world.api.closeWatches();
    await world.delete(everything().at(-1)!);
    world.api.compact();
    world.api.clearFaults();
    await world.pass(60_000, 10_000);
    assertEquals((await world.translate([CLUSTER])).get(CLUSTER), []);
    assertEquals(world.revision(), undefined);
  }));

for (
  const [what, response] of Object.entries({
    "409": { status: 409, body: { kind: "Status", code: 409, reason: "Conflict" } },
    "429 with Retry-After": { status: 429, headers: { "retry-after": "7" } },
    "500": { status: 500 },
    "broken connections": "reset" as const,
  })
) {
  Deno.test(`figure 10: a storm of ${what} makes no hot loop, and ends in the right state`, () =>
    withWorld({}, async (world) => {
      await world.apply(...everything());
      world.fail({ method: "PATCH", times: Infinity, response });
      world.start();
      await world.until("it tries", () => world.sent.some(({ method }) => method === "PATCH"));
      await world.quiet();
      world.takeWrites();
      for (let second = 0; second < 60; second += 5) {
        world.clock.skip(5_000);
        await world.quiet();
      }
      const writes = world.takeWrites().filter((write) => write.startsWith("PATCH"));
      // Three objects (tailnet, endpoints, revision), each with an action and a status.
      assert(writes.length <= 60, `${writes.length} writes in a minute`);
      if (what.startsWith("429")) assert(writes.length <= 5 * 9, `${writes.length} writes`);
      world.api.clearFaults();
      world.clock.skip(10_000);
      await bringToReady(world);
      assertEquals((await world.tailnet.keys()).length, 1);
    }));
}

Deno.test("figure 10: where one answer in ten is a 500 or 503, little more is sent than is needed", () =>
  withWorld({}, async (world) => {
    const names = Array.from({ length: 20 }, (_, i) => `e${i}`);
    const run = async () => {
      await world.apply(...everything(), ...names.map((name) => endpoints({}, name)));
      world.start();
      for (const name of ["wiki", ...names]) await bringToReady(world, `apps/${name}`);
      return world.takeWrites().length;
    };
    let asked = 0, failed = 0;
    world.api.failNext({
      times: Infinity,
      match: (request) => byOperator(request) && ++asked % 10 === 0 && (failed++, true),
      response: { status: 503 },
    });
    const sent = await run();
    world.api.clearFaults();
    await world.stop();
    assert(failed > 20, `${failed} answers of ${asked} were errors`);
    // Per object: config, state and pod objects, status; what is needed is what did not fail.
    assert(sent <= 1.2 * (sent - failed) + 25, `${sent} writes, ${failed} errors`);
  }));

Deno.test("a quota that refuses the StatefulSet is said in a condition, and tried once a minute", () =>
  withWorld({}, async (world) => {
    const message = 'statefulsets.apps "wiki-egress" is forbidden: exceeded quota: small';
    await world.apply(...everything());
    world.fail({
      method: "PATCH",
      path: /statefulsets\/wiki-egress/,
      times: Infinity,
      response: { status: 403, body: { kind: "Status", code: 403, reason: "Forbidden", message } },
    });
    world.start();
    const condition = await world.untilCondition("apps/wiki", "InvalidSpec", "Accepted");
    assert(condition.message.includes("exceeded quota"), condition.message);
    await world.quiet();
    world.takeWrites();
    await world.pass(300_000);
    const tries = world.takeWrites();
    assert(tries.length <= 6, tries.join("\n"));
    assertEquals((await world.tailnet.keys()).length, 1);
    world.api.clearFaults();
    world.clock.skip(60_000);
    await bringToReady(world);
    assertEquals(world.api.objects(resources.STATEFUL_SET).length, 1);
  }));

for (const [what, by] of [["ahead", 3_600_000], ["back", -3_600_000]] as const) {
  Deno.test(`figure 13: a clock that is set ${what} by an hour stops nothing`, () =>
    withWorld({}, async (world) => {
      await getReady(world);
      world.clock.set(by);
      await world.apply(endpoints(proxy(2)));
      await world.pass(10_000, 1_000);
      assertEquals((await world.tailnet.nodes()).length, 2);
      await world.pass(60_000);
      world.takeWrites();
      await world.pass(600_000, 60_000);
      assertEquals(world.takeWrites(), []);
      assertEquals(world.condition("apps/wiki")?.status, "True");
    }));
}

function byOperator(request: Request): boolean {
  return request.headers.has("x-by-operator");
}
