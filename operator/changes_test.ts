import { assert, assertEquals } from "@std/assert";
import { encodeBase64 } from "../core/base64.ts";
import type { KubeObject, ResourceType } from "../core/object.ts";
import * as resources from "../api/resources.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../api/tailscale_tailnet.ts";
import { withWorld } from "./testing/world.ts";
import { endpoints, everything, gateway, proxy, route, tailnet } from "./testing/objects.ts";
import { bringToReady, CLUSTER, getReady } from "./testing/ready.ts";

const MADE: readonly ResourceType[] = [
  resources.STATEFUL_SET,
  resources.SERVICE,
  resources.ROLE,
  resources.ROLE_BINDING,
  resources.NETWORK_POLICY,
  resources.SERVICE_ACCOUNT,
];

Deno.test("M14 M238 replicas come and go, each with its device and Secrets", () =>
  withWorld({}, async (world) => {
    await getReady(world, [...everything(), endpoints(proxy(2))]);
    const nodes = async () => (await world.tailnet.nodes()).map(({ hostname }) => hostname).sort();
    const secrets = () =>
      world.api.objects(resources.SECRET).filter(({ metadata }) => metadata.namespace === "apps")
        .length;
    assertEquals([await nodes(), secrets()], [["wiki-egress-0", "wiki-egress-1"], 4]);
    await world.apply(endpoints(proxy(3)));
    await world.until("the third", async () => (await nodes()).length === 3);
    await bringToReady(world);
    await world.apply(endpoints(proxy(1)));
    await world.until("one", async () => (await nodes()).length === 1 && secrets() === 2);
    await bringToReady(world);
    assertEquals(await nodes(), ["wiki-egress-0"]);
    const keys = await world.tailnet.keys();
    assertEquals(keys.filter(({ used, revoked }) => !used && !revoked), []);
  }));

Deno.test("M171 M187 a host's new address is a new revision, and what Envoy Gateway then gets", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const before = world.revision()?.spec.revision;
    const hosts = [{ name: "wiki", tailscaleIP: "100.64.9.99", port: 8080 }];
    await world.apply(endpoints({ endpoints: hosts }));
    await world.until("a new revision", () => {
      world.clock.skip(100);
      return world.revision()?.spec.revision !== before;
    });
    assertEquals((await world.translate([CLUSTER], "apps/edge")).get(CLUSTER), [
      "100.64.9.99:8080",
    ]);
  }));

Deno.test("what was made and is deleted by hand is made again", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    for (const type of MADE) {
      const made = () =>
        world.api.objects(type).filter(({ metadata }) => metadata.namespace === "apps");
      const [object] = made();
      assert(object, type.kind);
      await world.client.delete(type, object.metadata.name, {
        namespace: "apps",
        propagation: "Background",
      });
      await world.until(
        `a new ${type.kind}`,
        () => made().some(({ metadata }) => metadata.uid !== object.metadata.uid),
      );
    }
    await bringToReady(world);
  }));

Deno.test("what was edited by hand is restored, and what others added stays", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const key = "apps/wiki-egress-svc";
    type Service = KubeObject & { spec: { selector: Record<string, string> } };
    const service = () => world.find<Service>(resources.SERVICE, key);
    const selector = service()?.spec.selector;
    const edit = {
      metadata: { annotations: { "example.com/theirs": "1" }, labels: { theirs: "1" } },
      spec: { selector: { "app.kubernetes.io/instance": "hijacked" } },
    };
    const contentType = "application/merge-patch+json";
    await world.client.patch(resources.SERVICE, "wiki-egress-svc", "apps", edit, { contentType });
    await world.until("restored", () =>
      service()?.spec.selector["app.kubernetes.io/instance"] ===
        selector?.["app.kubernetes.io/instance"]);
    await world.client.patch(resources.ROLE, "wiki-egress", "apps", { rules: [] }, { contentType });
    type Role = KubeObject & { rules: unknown[] | null };
    await world.until(
      "restored",
      () => world.find<Role>(resources.ROLE, "apps/wiki-egress")?.rules?.length,
    );
    await world.quiet();
    assertEquals(service()?.metadata.annotations?.["example.com/theirs"], "1");
    assertEquals(service()?.metadata.labels?.theirs, "1");
  }));

Deno.test("a state Secret that is deleted by hand costs a new key, and heals", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    await world.client.delete(resources.SECRET, "wiki-egress-0", { namespace: "apps" });
    await world.until(
      "it is there again",
      () => world.find(resources.SECRET, "apps/wiki-egress-0"),
    );
    await world.until("a new key", async () => (await world.tailnet.keys()).length === 2);
    // The proxy starts anew, as it does when its state is gone.
    await world.client.delete(resources.POD, "wiki-egress-0", { namespace: "apps" });
    await world.until("logged in", async () => {
      await world.quiet();
      world.clock.skip(2_000);
      return (await world.tailnet.keys()).every(({ used }) => used);
    });
    await world.pass(90_000);
    // The old device has the name, and nobody knows any more that it was ours.
    assertEquals(world.condition("apps/wiki")?.reason, "NameConflict");
    assertEquals((await world.tailnet.keys()).length, 2);
  }));

Deno.test("deletion goes in order, and leaves nothing in cluster and tailnet", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    await world.delete(route());
    await world.delete(tailnet());
    await world.untilCondition("corp", "InUse");
    await world.quiet();
    world.takeWrites();
    const order: string[] = [];
    world.onRequest = (request) => order.push(request);
    await world.delete(endpoints());
    await world.until(
      "the endpoints are gone",
      () => !world.find(TailscaleEndpoints.resource, "apps/wiki"),
    );
    await world.until("the tailnet is gone", () => !world.find(TailscaleTailnet.resource, "corp"));
    const at = (pattern: RegExp) => order.findIndex((request) => pattern.test(request));
    const steps = [
      at(/^DELETE .*statefulsets\/wiki-egress$/),
      at(/^DELETE .*\/device\//),
      at(/^DELETE .*secrets\/wiki-egress-0/),
      order.findLastIndex((request) => /^PATCH .*tailscaleendpoints\/wiki$/.test(request)),
    ];
    assertEquals(steps, [...steps].sort((a, b) => a - b), order.join("\n"));
    assert(steps.every((step) => step >= 0), order.join("\n"));
    await world.delete(gateway());
    await world.quiet();
    for (const type of [...MADE, resources.POD, resources.SECRET]) {
      const left = world.api.objects(type).filter(({ metadata }) => metadata.namespace === "apps");
      assertEquals(left.map(({ metadata }) => metadata.name), [], type.kind);
    }
    assertEquals(world.revision(), undefined);
    assertEquals(await world.tailnet.nodes(), []);
    const keys = await world.tailnet.keys();
    assertEquals(keys.filter(({ used, revoked }) => !used && !revoked), []);
    assertEquals(world.operator.tailnets.states.size, 0);
  }));

Deno.test("a node id that somebody wrote into a Secret or a status removes no other's device", () =>
  withWorld({}, async (world) => {
    await getReady(world, [...everything(), endpoints(proxy(1))]);
    const laptop = world.tailnet.addHost({ name: "laptop" }).node;
    const secret = world.api.objects(resources.SECRET)
      .find(({ metadata }) => metadata.name === "wiki-egress-0");
    assert(secret);
    await world.client.patch(resources.SECRET, "wiki-egress-0", "apps", {
      data: { device_id: encodeBase64(laptop.nodeId) },
    }, { contentType: "application/merge-patch+json" });
    await world.delete(endpoints());
    await world.until(
      "the object is gone",
      () => world.api.objects(TailscaleEndpoints.resource).length === 0,
    );
    const left = (await world.tailnet.nodes()).map(({ hostname }) => hostname);
    assert(left.includes("laptop"), left.join());
    await world.until(
      "an Event says so",
      () =>
        world.api.objects(resources.EVENT).some((event) =>
          (event as { reason?: string }).reason === "DeviceNotRemoved"
        ),
    );
  }));
