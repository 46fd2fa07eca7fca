import { setTimeout as pause } from "node:timers/promises";
import { status } from "@grpc/grpc-js";
import { assert, assertEquals, assertLessOrEqual, assertRejects } from "@std/assert";
import { codec } from "../proto/codec.ts";
import { TestEnvoyGateway } from "./testing/envoy.ts";
import { endpoints, everything, proxy } from "./testing/objects.ts";
import { CLUSTER } from "./testing/ready.ts";
import { Replica, TestService } from "./testing/replicas.ts";
import { type TestWorld, withWorld } from "./testing/world.ts";

const REQUEST = codec("envoygateway.extension.PostTranslateModifyRequest");
const RESPONSE = codec("envoygateway.extension.PostTranslateModifyResponse");
const ENVOY_CLUSTER = codec("envoy.config.cluster.v3.Cluster");

/** What Envoy Gateway asks with; with the Gateway's present revision if it is named. */
function request(world?: TestWorld, change?: { revision: string }): Uint8Array {
  const found = world?.revision();
  const revision = found && { ...found, spec: { ...found.spec, ...change } };
  return REQUEST.encode({
    postTranslateContext: {
      extensionResources: revision
        ? [{ unstructuredBytes: new TextEncoder().encode(JSON.stringify(revision)) }]
        : [],
    },
    clusters: [ENVOY_CLUSTER.encode({
      name: CLUSTER,
      type: 3,
      edsClusterConfig: { serviceName: CLUSTER },
    })],
  });
}

/** Starts two replicas, waits until all is well, and ends whatever runs then. */
function withReplicas(
  test: (world: TestWorld, leader: Replica, other: Replica) => Promise<void>,
): Promise<void> {
  return withWorld({}, async (world) => {
    const replicas: Replica[] = [];
    try {
      // A host by name: its address is known from the tailnet alone.
      const host = world.tailnet.addHost({ name: "wiki", tags: ["tag:web"], port: 8080 });
      const named = { name: "wiki", tailscaleFQDN: host.node.name, port: 8080 };
      await world.apply(...everything(), endpoints({ endpoints: [named] }));
      replicas.push(new Replica(world, "a"));
      await replicas[0]!.port();
      replicas.push(new Replica(world, "b"));
      await replicas[1]!.port();
      await untilReady(world, replicas[0]!);
      await test(world, replicas[0]!, replicas[1]!);
    } finally {
      for (const replica of replicas) replica.cutOff = false;
      await ended(world, replicas);
    }
  });
}

/** Ends replicas, and lets the time pass that they take for it. */
async function ended(world: TestWorld, replicas: readonly Replica[]): Promise<void> {
  let left = replicas.length;
  for (const replica of replicas) replica.stop().finally(() => left--);
  await world.until("all have ended", () => {
    if (left > 0) world.clock.skip(500);
    return left === 0;
  });
}

/** What its metrics say of its part. */
async function leads({ operator }: Replica): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${operator.listening?.httpPort}/metrics`);
  const text = await response.text();
  return /^leader_election_master_status\{name="tailscale-gateway"\} (\d)$/m.exec(text)?.[1];
}

async function untilReady(world: TestWorld, replica: Replica): Promise<void> {
  await world.until("Ready", async () => {
    await replica.answer(request(world)).catch(() => {});
    if (world.condition("apps/wiki")?.status === "True") return true;
    world.clock.skip(1_000);
    return false;
  });
  await world.quiet();
}

Deno.test("figure 16: of two replicas one writes, and both give the same bytes", () =>
  withReplicas(async (world, leader, other) => {
    const [one, two] = [await leader.answer(request(world)), await other.answer(request(world))];
    assertEquals(one, two);
    const [bytes] = RESPONSE.decode(one).clusters ?? [];
    const { loadAssignment } = ENVOY_CLUSTER.decode(bytes!);
    assertEquals(loadAssignment?.endpoints?.[0]?.lbEndpoints?.length, 1, "with the host by name");
    assert(leader.writes.length > 0);
    assertEquals([other.writes, other.tailscaleCalls], [[], []]);
    assertEquals(leader.operator.snapshot.version, other.operator.snapshot.version);
    assertEquals([await leads(leader), await leads(other)], ["1", "0"]);
  }));

Deno.test("figure 16: an edit keeps the hosts by name at the replica that follows", () =>
  withReplicas(async (world, leader, other) => {
    const before = await other.answer(request());
    const { spec } = world.api.objects({
      group: "gateway.tailscale.com",
      version: "v1alpha1",
      kind: "TailscaleEndpoints",
      plural: "tailscaleendpoints",
      namespaced: true,
    })[0] as unknown as { spec: Record<string, unknown> };
    leader.cutOff = true; // so that the status stays as it is
    await world.apply(endpoints({ ...spec, ...proxy(2) }));
    await world.quiet();
    assertEquals(await other.answer(request()), before);
  }));

Deno.test("figure 15: a leader that is cut off writes nothing more, and the other acts within 17 s", () =>
  withReplicas(async (world, leader, other) => {
    leader.cutOff = true;
    const cutOffAt = world.clock.now();
    await world.apply(endpoints(proxy(2)));
    await world.until("the other acts", async () => {
      if (other.writes.length > 0) return true;
      world.clock.skip(500);
      await world.quiet();
      return false;
    });
    assertLessOrEqual(world.clock.now() - cutOffAt, 17_000 + 3_000); // with the steps' own time
    leader.cutOff = false;
    leader.writes.length = 0;
    leader.tailscaleCalls.length = 0;
    await world.pass(60_000, 5_000);
    await untilReady(world, other);
    assertEquals([leader.writes, leader.tailscaleCalls], [[], []]);
    assertEquals((await world.tailnet.keys()).length, 2, "a key for each replica, and no more");
    assertEquals(await leader.answer(request(world)), await other.answer(request(world)));
  }));

Deno.test("a replica that leads again does what was changed meanwhile", () =>
  withReplicas(async (world, leader, other) => {
    leader.cutOff = true;
    await world.pass(30_000, 1_000);
    leader.cutOff = false;
    await world.pass(30_000, 1_000);
    await ended(world, [other]);
    leader.writes.length = 0;
    await world.apply(endpoints(proxy(2)));
    await untilReady(world, leader);
    assert(leader.writes.length > 0);
    assertEquals(
      (await world.tailnet.nodes()).filter(({ hostname }) => hostname !== "wiki").length,
      2,
    );
  }));

Deno.test("figure 16: a replica that lags behind a revision says UNAVAILABLE, and soon answers anyway", () =>
  withReplicas(async (world, leader, other) => {
    const future = request(world, { revision: "f00d.0" });
    await assertRejects(() => other.answer(future), Error, "has not reached this replica yet");
    assertEquals(await leader.answer(future), await leader.answer(request(world)));
    world.clock.skip(500);
    assertEquals(await other.answer(future), await leader.answer(request(world)));
  }));

Deno.test("figure 17: a leader that ends is followed within 2 s, and ends within 10 s", () =>
  withReplicas(async (world, leader, other) => {
    const began = world.clock.now();
    const ended = leader.stop();
    await world.until("not ready", () => leader.operator.health().notReady.length > 0);
    assertLessOrEqual(world.clock.now() - began, 500);
    await world.apply(endpoints(proxy(2)));
    await world.until("the other acts", () => other.writes.length > 0);
    assertLessOrEqual(world.clock.now() - began, 2_000 + 500); // with this machine's own time
    await ended;
    assertLessOrEqual(world.clock.now() - began, 10_000);
  }));

/** Makes what is rendered another, has one replica called for it, and lets a minute pass. */
async function changeHost(world: TestWorld, called: Replica): Promise<string> {
  const before = world.revision()?.spec.revision;
  await world.apply(
    endpoints({ endpoints: [{ name: "wiki", tailscaleIP: "100.64.9.11", port: 8080 }] }),
  );
  await world.until("a new revision", () => {
    world.clock.skip(200);
    return world.revision()?.spec.revision !== before;
  });
  await called.answer(request(world));
  await world.pass(60_000, 5_000);
  return world.revision()!.spec.revision;
}

const ofRevisions = (write: string) => write.includes("tailscalegatewayrevisions");

Deno.test("M244 a restarted leader, and the one that follows it, write no revision again", () =>
  withReplicas(async (world, leader, other) => {
    const revision = await changeHost(world, leader);
    assertEquals(revision.split(".")[1], "0", "its writer was called for it");
    await ended(world, [leader]);
    const next = new Replica(world, "c");
    try {
      await next.port();
      await world.pass(60_000, 5_000);
      assertEquals([await leads(other), other.writes.filter(ofRevisions)], ["1", []]);
      await ended(world, [other]);
      await world.pass(60_000, 5_000);
      assertEquals([await leads(next), next.writes.filter(ofRevisions)], ["1", []]);
      assertEquals(world.revision()?.spec.revision, revision);
    } finally {
      await ended(world, [next]);
    }
  }));

Deno.test("a revision whose writer ends before it is served is asked for again by the next leader", () =>
  withReplicas(async (world, leader, other) => {
    const before = world.revision()?.spec.revision;
    await world.apply(
      endpoints({ endpoints: [{ name: "wiki", tailscaleIP: "100.64.9.11", port: 8080 }] }),
    );
    await world.until("a new revision", () => {
      world.clock.skip(200);
      return world.revision()?.spec.revision !== before;
    });
    await ended(world, [leader]);
    await world.pass(10_000, 1_000);
    assertEquals(other.writes.filter(ofRevisions).length, 1);
  }));

/** Calls hooks 20 times a second as Envoy Gateway does, until it is told to stop. */
async function callOnAndOn(service: TestService, signal: AbortSignal) {
  const gateway = new TestEnvoyGateway(service.port);
  const calls: Promise<void>[] = [];
  const failures: unknown[] = [];
  let retries = 0;
  const call = async (waits: readonly number[]): Promise<void> => {
    try {
      await gateway.call(request());
    } catch (error) {
      const [wait, ...others] = waits;
      const isUnavailable = (error as { code?: number }).code === status.UNAVAILABLE;
      if (wait === undefined || !isUnavailable) return void failures.push(error);
      retries++;
      await pause(wait);
      await call(others);
    }
  };
  while (!signal.aborted) {
    calls.push(call([100, 200, 400]));
    await pause(50);
  }
  await Promise.all(calls);
  gateway.close();
  return { calls: calls.length, failures, retries };
}

Deno.test("figure 18: a rolling update under 20 hook calls a second fails none of them", () =>
  withReplicas(async (world, leader, other) => {
    const service = new TestService();
    service.ports = [await leader.port(), await other.port()];
    const stop = new AbortController();
    const calling = callOnAndOn(service, stop.signal);
    const fresh: Replica[] = [];
    for (const old of [leader, other]) {
      const next = new Replica(world, `new-${old.name}`);
      fresh.push(next);
      service.ports.push(await next.port());
      const gone = await old.port();
      const stopped = old.stop();
      await pause(500); // so long it takes until a Service has heard
      service.ports = service.ports.filter((port) => port !== gone);
      await stopped;
    }
    stop.abort();
    const { calls, failures } = await calling;
    await service.close();
    await ended(world, fresh);
    assertEquals(failures, []);
    assert(calls > 60, `${calls} calls`);
  }));
