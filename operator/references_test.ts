import { assert, assertEquals } from "@std/assert";
import { decodeBase64 } from "../core/base64.ts";
import { type TestWorld, withWorld } from "./testing/world.ts";
import { endpoints, everything, grant, namespace, object, route } from "./testing/objects.ts";
import { bringToReady, CLUSTER, getReady } from "./testing/ready.ts";

async function upstreams(world: TestWorld, cluster = CLUSTER) {
  return (await world.translate([cluster], "apps/edge")).get(cluster);
}

Deno.test("M20 a host outside the tailnet's ranges is named, and the other hosts are served", () =>
  withWorld({}, async (world) => {
    const hosts = [
      { name: "bad", tailscaleIP: "192.0.2.1", port: 8080 },
      { name: "good", tailscaleIP: "100.64.9.10", port: 8080 },
    ];
    await world.apply(...everything(), endpoints({ endpoints: hosts }));
    world.start();
    await world.until(
      "the good one is served",
      async () => (await upstreams(world))?.join() === "100.64.9.10:8080",
    );
    await world.quiet();
    const condition = world.condition("apps/wiki", "ResolvedRefs");
    assertEquals(condition?.status, "False");
    assert(condition?.message.includes("endpoint bad"), condition?.message);
    assert(condition?.message.includes("192.0.2.1"), condition?.message);
    await world.apply(endpoints());
    await bringToReady(world);
  }));

Deno.test("M176 a route to an object that is not there has no upstreams, until it comes", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    await world.apply(route({ name: "early", to: "later" }));
    const cluster = "httproute/apps/early/rule/0";
    await world.quiet();
    assertEquals(await upstreams(world, cluster), []);
    await world.apply(endpoints({}, "later"));
    await world.until("served", async () => (await upstreams(world, cluster))?.length === 1);
  }));

Deno.test("a route from another namespace is served only with a ReferenceGrant", () =>
  withWorld({}, async (world) => {
    const cluster = "httproute/other/wiki/rule/0";
    const objects = everything().filter(({ kind }) => kind !== "HTTPRoute");
    await world.apply(...objects, namespace("other"), route({ from: "other" }));
    world.start();
    await world.untilCondition("apps/wiki", "RefNotPermitted");
    assertEquals(await upstreams(world, cluster), []);
    await world.apply(grant("other"));
    await world.until("served", async () => (await upstreams(world, cluster))?.length === 1);
    await bringToReady(world);
    await world.delete(grant("other"));
    await world.until("not served", async () => (await upstreams(world, cluster))?.length === 0);
    await world.untilCondition("apps/wiki", "RefNotPermitted");
  }));

Deno.test("that Envoy Gateway never called is said, and unsaid when it does", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything());
    world.start();
    const { message } = await world.untilCondition("apps/wiki", "HooksNotCalled", "ResolvedRefs");
    assert(message.includes("apps/edge") && message.includes("extensionManager"), message);
    await world.pass(600_000, 300_000);
    assertEquals(world.condition("apps/wiki", "ResolvedRefs")?.reason, "HooksNotCalled");
    await upstreams(world);
    await world.until(
      "unsaid",
      () => world.condition("apps/wiki", "ResolvedRefs")?.reason !== "HooksNotCalled",
    );
  }));

Deno.test("a call that failed is asked for again once, and not without end where nobody calls", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const before = world.revision()?.spec.revision;
    await world.callWith(new Uint8Array([0xff, 0xff, 0xff]));
    await world.pass(20_000, 5_000);
    const asked = world.revision()?.spec.revision;
    assert(asked !== before, "it is asked for again");
    world.takeWrites();
    await world.pass(3_600_000, 300_000);
    assertEquals(world.takeWrites(), []);
    assertEquals(world.revision()?.spec.revision, asked);
  }));

Deno.test("an object of a needed name that somebody else made is left alone, and said", () =>
  withWorld({}, async (world) => {
    const theirs = object("v1", "Secret", {
      name: "wiki-egress-0-config",
      namespace: "apps",
      data: { mine: "eA==" },
    });
    await world.apply(...everything().filter(({ kind }) => kind !== "HTTPRoute"), theirs);
    world.start();
    const { message } = await world.untilCondition("apps/wiki", "Conflicted", "Accepted");
    assert(message.includes("wiki-egress-0-config"), message);
    await world.pass(180_000);
    const found = await world.client.get<typeof theirs & { data: Record<string, string> }>(
      { group: "", version: "v1", kind: "Secret", plural: "secrets", namespaced: true },
      "wiki-egress-0-config",
      "apps",
    );
    assertEquals(Object.keys(found.data), ["mine"]);
    assertEquals(decodeBase64(found.data.mine ?? ""), "x");
    assertEquals((await world.tailnet.keys()).length, 0, "no key is made for it");
    await world.delete(theirs);
    await world.pass(70_000);
    await world.apply(route());
    await bringToReady(world);
  }));
