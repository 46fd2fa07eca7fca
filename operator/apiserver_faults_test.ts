import { assert, assertEquals } from "@std/assert";
import * as resources from "../api/resources.ts";
import { TYPES_READ } from "../controllers/registry.ts";
import type { FaultResponse } from "../embedded/apiserver/mod.ts";
import { type TestWorld, withWorld } from "./testing/world.ts";
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

const NAMES = Array.from({ length: 8 }, (_, i) => `e${i}`);

/** What the operator asked for while some of it failed. */
class Meter {
  /** By write and object, when tries failed in a row. */
  readonly #failing = new Map<string, number[]>();
  /** Tries that came within a second of the one before, the first three aside. */
  readonly hot: string[] = [];
  asked = 0;
  failed = 0;

  constructor(readonly world: TestWorld) {
    world.onRequest = (request) => request.includes("://") || this.asked++;
  }

  /** Fails what `fails` says, with one response after another. */
  fault(responses: readonly (FaultResponse | "reset")[], fails: (request: Request) => boolean) {
    let turn = -1;
    for (const [i, response] of responses.entries()) {
      const match = (request: Request) => {
        if (!byOperator(request)) return false;
        // Every request is looked at for each response in turn.
        if (i === 0) {
          turn = this.#note(request, fails(request)) ? this.failed % responses.length : -1;
        }
        return turn === i;
      };
      this.world.api.failNext({ times: Infinity, response, match });
    }
  }

  #note(request: Request, fails: boolean): boolean {
    const key = `${request.method} ${new URL(request.url).pathname}`;
    if (fails) this.failed++;
    if (request.method === "GET" || key.endsWith("/events")) return fails;
    const times = this.#failing.get(key) ?? [], now = this.world.clock.now();
    if (times.length >= 3 && now - times.at(-1)! < 1_000) this.hot.push(`${key} ${times.length}`);
    if (fails) this.#failing.set(key, [...times, now]);
    else this.#failing.delete(key);
    return fails;
  }
}

/** Brings many objects up, then edits one after another for `ms`; gives what was asked for. */
async function work(
  { ms, stepMs, fault }: { ms: number; stepMs: number; fault?: (meter: Meter) => void },
): Promise<Meter> {
  let meter!: Meter;
  await withWorld({}, async (world) => {
    meter = new Meter(world);
    await world.apply(...everything(), ...NAMES.map((name) => endpoints({}, name)));
    fault?.(meter);
    world.start();
    for (let step = 0; step * stepMs < ms; step++) {
      await world.quiet();
      if (step % 4 === 0) {
        const port = 9000 + step;
        const hosts = [{ name: "wiki", tailscaleIP: "100.64.9.10", port }];
        await world.apply(endpoints({ endpoints: hosts }, NAMES[step / 4 % NAMES.length]));
      }
      if (step % 10 === 0 && world.revision()) await world.translate([CLUSTER], "apps/edge");
      world.clock.skip(stepMs);
    }
    world.api.clearFaults();
    world.clock.skip(10_000);
    for (const name of ["wiki", ...NAMES]) await bringToReady(world, `apps/${name}`);
    const keys = (await world.tailnet.keys()).filter(({ revoked }) => !revoked);
    assertEquals(keys.length, NAMES.length + 1);
  });
  return meter;
}

const STORM = { ms: 60_000, stepMs: 2_000 };
let neededInStorm: Promise<Meter> | undefined;

for (
  const [what, response, leastMs] of [
    ["409", { status: 409, body: { kind: "Status", code: 409, reason: "Conflict" } }, 5_000],
    ["429 with Retry-After", { status: 429, headers: { "retry-after": "7" } }, 7_000],
    ["500", { status: 500 }, 5_000],
    ["broken connections", "reset", 5_000],
  ] as const
) {
  Deno.test(`figure 10: a storm of ${what} costs its backoff, makes no hot loop, and ends in the right state`, async () => {
    const needed = (await (neededInStorm ??= work(STORM))).asked;
    const fault = (it: Meter) => it.fault([response], ({ method }) => method !== "GET");
    const { asked, failed, hot } = await work({ ...STORM, fault });
    assertEquals(hot, []);
    assert(asked - failed <= 1.2 * needed, `${asked} asked, ${failed} failed, ${needed} needed`);
    // Of each endpoints, the tailnet and the revision an action and a status fail: soon
    // thrice, later this rarely.
    const retries = 2 * (NAMES.length + 3) * (4 + STORM.ms / leastMs);
    assert(failed > 0 && failed <= retries, `${failed} failed, ${retries} are the backoff's`);
  });
}

Deno.test("figure 10: where one answer in ten is a 500 or 503 for 10 minutes, little more is asked than is needed", async () => {
  const time = { ms: 600_000, stepMs: 15_000 };
  const needed = (await work(time)).asked;
  let count = 0;
  const fault = (it: Meter) =>
    it.fault([{ status: 500 }, { status: 503 }], () => ++count % 10 === 0);
  const { asked, failed, hot } = await work({ ...time, fault });
  assertEquals(hot, []);
  assert(failed >= asked / 12, `${failed} of ${asked} failed`);
  assert(asked - failed <= 1.2 * needed, `${asked} asked, ${failed} failed, ${needed} needed`);
});

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
