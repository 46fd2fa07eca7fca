import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { deepEqual } from "../../core/equal.ts";
import { keyOf } from "../../core/object.ts";
import type { Pod, StatefulSet } from "../../api/core_objects.ts";
import { HTTP_ROUTE, POD, SECRET, SERVICE, STATEFUL_SET } from "../../api/resources.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { device, egress, endpoints, grant, NOW, refused, route } from "../testing/builders.ts";
import { usable } from "../testing/builders.ts";
import { messageOf } from "../testing/conditions.ts";
import type { Model } from "../testing/model.ts";
import { endpointsController } from "./controller.ts";
import { actions, atRest, condition, edit, fresh, know, plan, run, status } from "./testing.ts";

const HOST = { name: "api", tailscaleIP: "100.64.0.10", port: 8080 };

/** Changes what is known of the devices of replicas. */
function devices(model: Model, change: Partial<ReturnType<typeof device>>): void {
  model.devices = model.devices.map((found) => ({ ...found, ...change }));
  know(model);
}

function setPod(model: Model, name: string, status: Pod["status"]): void {
  const pod = model.get<Pod>(POD, `apps/${name}`);
  assert(pod);
  model.put({ ...pod, status });
}

function setReady(model: Model, readyReplicas: number, rest = {}): void {
  const set = model.get<StatefulSet>(STATEFUL_SET, "apps/intranet-egress");
  assert(set);
  model.put({ ...set, status: { readyReplicas, ...rest } });
}

Deno.test("M26 an object whose proxies run and are in the tailnet is ready, with every condition True", () => {
  const model = atRest({ endpoints: [HOST] });
  const found = status(model).conditions?.map(({ type, status, reason }) => [type, status, reason]);
  assertEquals(found, [
    ["Accepted", "True", "Accepted"],
    ["ResolvedRefs", "True", "ResolvedRefs"],
    ["StatefulSetsReady", "True", "AllReplicasReady"],
    ["DevicesReady", "True", "AllDevicesConnected"],
    ["Synced", "True", "DiscoveryDisabled"],
    ["Ready", "True", "Ready"],
  ]);
});

Deno.test("a new object says what it waits for", () => {
  const model = fresh();
  assertEquals(condition(model, "StatefulSetsReady"), "False StatefulSetsPending");
  run(model);
  assertEquals(condition(model, "StatefulSetsReady"), "False ReplicasNotReady");
  assertEquals(condition(model, "DevicesReady"), "False DevicesNotConnected");
  assertStringIncludes(
    messageOf(status(model), "DevicesReady"),
    "intranet-egress-1 (not logged in)",
  );
});

Deno.test("M26 replicas that are not ready are named, with the reason", () => {
  const model = atRest({ proxy: egress(3) });
  setReady(model, 0);
  model.remove(POD, "apps/intranet-egress-0");
  setPod(model, "intranet-egress-1", {
    containerStatuses: [{
      name: "tailscale",
      ready: false,
      restartCount: 0,
      state: { waiting: { reason: "ImagePullBackOff" } },
    }],
  });
  setPod(model, "intranet-egress-2", {
    conditions: [{ type: "PodScheduled", status: "False", message: "0/1 nodes are available" }],
  });
  assertEquals(condition(model, "StatefulSetsReady"), "False ReplicasNotReady");
  const message = messageOf(status(model), "StatefulSetsReady");
  for (
    const part of [
      "0 of 3",
      "intranet-egress-0: has no pod",
      "intranet-egress-1: ImagePullBackOff",
      "intranet-egress-2: 0/1 nodes are available",
    ]
  ) assertStringIncludes(message, part);
});

Deno.test("M26 replicas do not count as ready before the StatefulSet's controller saw the spec", () => {
  const model = atRest();
  const set = model.get<StatefulSet>(STATEFUL_SET, "apps/intranet-egress")!;
  model.put({ ...set, metadata: { ...set.metadata, generation: 4 } });
  setReady(model, 2, { observedGeneration: 3 });
  assertEquals(condition(model, "StatefulSetsReady"), "False ReplicasNotReady");
  setReady(model, 2, { observedGeneration: 4 });
  assertEquals(condition(model, "StatefulSetsReady"), "True AllReplicasReady");
});

Deno.test("M26 a StatefulSet that is not scaled yet is not ready, though all that it has is", () => {
  const model = atRest();
  edit(model, { proxy: egress(3) });
  assertEquals(condition(model, "StatefulSetsReady"), "False ReplicasNotReady");
});

Deno.test("M23 M29 M104 statefulSetRefs say what runs and under which name it is reached", () => {
  const model = atRest();
  const { createdAt, ...ref } = status(model).statefulSetRefs?.[0] ?? {};
  assertEquals(ref, {
    name: "intranet-egress",
    namespace: "apps",
    connectionType: "egress",
    desiredReplicas: 2,
    readyReplicas: 2,
    service: "intranet-egress-svc",
    serviceFQDN: "intranet-egress-svc.apps.svc.cluster.local",
    clusterIP: "10.96.0.9",
  });
  assert(createdAt);
});

Deno.test("M27 M28 M31 M94 devices are the machines of the replicas, whole", () => {
  const model = atRest({ proxy: egress(1) });
  assertEquals(status(model).devices, [{
    hostname: "intranet-egress-0",
    tailscaleFQDN: "intranet-egress-0.tail1234.ts.net",
    tailscaleIP: "100.64.0.7",
    tailscaleIPs: ["100.64.0.7", "fd7a:115c:a1e0::7"],
    tags: ["tag:k8s"],
    connected: true,
    statefulSetPod: "intranet-egress-0",
    nodeID: "n-intranet-egress-0",
    podIP: "10.1.0.5",
    online: true,
  }]);
});

Deno.test("M27 a device is online only while its pod is ready", () => {
  const model = atRest({ proxy: egress(1) });
  setPod(model, "intranet-egress-0", { conditions: [{ type: "Ready", status: "False" }] });
  const [found] = status(model).devices ?? [];
  assertEquals([found?.connected, found?.online], [true, false]);
});

Deno.test("M24 M25 machines are counted, those expected and those connected", () => {
  const model = atRest();
  devices(model, { connectedToControl: false, lastSeen: "2026-03-01T11:00:00Z" });
  model.devices = model.devices.map((found, i) =>
    i === 0 ? { ...found, connectedToControl: true } : found
  );
  know(model);
  const found = status(model);
  assertEquals([found.totalEndpoints, found.healthyEndpoints], [2, 1]);
  assertEquals(
    found.endpointStatus?.map(({ name, healthStatus, message }) => [name, healthStatus, message]),
    [
      ["intranet-egress-0", "Healthy", undefined],
      ["intranet-egress-1", "Unhealthy", "not connected to the tailnet"],
    ],
  );
  assertEquals(condition(model, "DevicesReady"), "False DevicesNotConnected");
});

Deno.test("a replica whose device is in no list is not ready", () => {
  const model = atRest();
  model.tailnets.set("corp", usable([]));
  assertEquals(condition(model, "DevicesReady"), "False DevicesNotConnected");
  const [found] = status(model).endpointStatus ?? [];
  assertEquals(found?.message, "not in the tailnet's list of devices");
});

Deno.test("a device whose name got a suffix is a NameConflict, with both names", () => {
  const model = atRest({ proxy: egress(1) });
  devices(model, { name: "intranet-egress-0-1.tail1234.ts.net" });
  assertEquals(condition(model, "DevicesReady"), "False NameConflict");
  assertStringIncludes(
    messageOf(status(model), "DevicesReady"),
    "intranet-egress-0-1.tail1234.ts.net (asked for intranet-egress-0)",
  );
  assertEquals(condition(model, "Ready"), "False NameConflict");
});

Deno.test("M98 while the devices are not known, what was told of them stands", () => {
  const model = atRest();
  const before = status(model);
  model.tailnets.set("corp", refused("Unavailable"));
  const now = status(model);
  assertEquals([now.devices, now.healthyEndpoints], [before.devices, 2]);
  assertEquals(condition(model, "DevicesReady"), "Unknown TailnetNotReady");
  assertEquals(now.endpointStatus?.[0], {
    name: "intranet-egress-0",
    tailscaleIP: "100.64.0.7",
    healthStatus: "Unknown",
    source: "Proxy",
    message: "the tailnet's devices are not known",
  });
});

Deno.test("M97 the same world gives the same status, and a moved clock changes no time in it", () => {
  const model = atRest({ endpoints: [HOST] });
  const before = status(model);
  model.now += 60_000;
  assert(deepEqual(before, status(model)));
});

Deno.test("M20 M103 an endpoint that is a device of the tailnet is as healthy as it is", () => {
  const model = atRest({
    endpoints: [HOST, { ...HOST, name: "other", tailscaleIP: "100.64.0.11" }],
  });
  const known = [device("api", { addresses: ["100.64.0.10"], connectedToControl: false })];
  model.tailnets.set("corp", usable([...model.devices, ...known]));
  assertEquals(status(model).endpointStatus?.slice(2), [
    {
      name: "api",
      port: 8080,
      source: "Manual",
      tailscaleIP: "100.64.0.10",
      healthStatus: "Unhealthy",
      message: "device api.tail1234.ts.net is not connected to the tailnet",
    },
    {
      name: "other",
      port: 8080,
      source: "Manual",
      tailscaleIP: "100.64.0.11",
      healthStatus: "Unknown",
      message: "no device of the tailnet has this address",
    },
  ]);
});

const BAD_ENDPOINTS = [
  [{ name: "a", tailscaleIP: "10.0.0.1", port: 80 }, "AddressNotRouted", "10.0.0.1"],
  [{ name: "a", tailscaleFQDN: "gone.tail1234.ts.net", port: 80 }, "HostNotFound", "full name"],
] as const;
for (const [entry, reason, part] of BAD_ENDPOINTS) {
  Deno.test(`M20 an endpoint that leads nowhere says ${reason}, and the others are not stopped`, () => {
    const model = atRest({ endpoints: [entry, { ...HOST, port: 81 }] });
    assertEquals(condition(model, "ResolvedRefs"), `False ${reason}`);
    assertEquals(condition(model, "Accepted"), "True Accepted");
    const message = messageOf(status(model), "ResolvedRefs");
    assertStringIncludes(message, "endpoint a");
    assertStringIncludes(message, part);
    const [, , bad, good] = status(model).endpointStatus ?? [];
    assertEquals([bad?.healthStatus, good?.healthStatus], ["Unhealthy", "Unknown"]);
  });
}

Deno.test("M20 a name is not called unknown while the devices are not", () => {
  const model = atRest({
    endpoints: [{ name: "a", tailscaleFQDN: "a.tail1234.ts.net", port: 80 }],
  });
  model.tailnets.set("corp", refused("Unavailable"));
  assertEquals(condition(model, "ResolvedRefs"), "False TailnetNotReady");
});

/** An object at rest with a route, and hooks that were called. */
function routed(refs: Parameters<typeof route>[1] = [{ port: 8080 }], meta = {}): Model {
  return atRest({ endpoints: [HOST] }).put(route("web", refs, meta));
}

Deno.test("M188 a route that leads somewhere leaves the references resolved", () => {
  assertEquals(condition(routed(), "ResolvedRefs"), "True ResolvedRefs");
});

const ROUTE_PROBLEMS: readonly [string, Model, string, string][] = [
  ["names a port that no endpoint has", routed([{ port: 9 }]), "PortUnserved", "port 9"],
  [
    "is in another namespace without a grant",
    routed([{ namespace: "apps" }], { namespace: "shop" }),
    "RefNotPermitted",
    "HTTPRoute shop/web",
  ],
  [
    "mixes the object with Services in one rule",
    routed([{}, { group: "", kind: "Service", name: "web", port: 80 }]),
    "NotSupported",
    "not supported yet",
  ],
  [
    "picks endpoints that differ",
    atRest({ endpoints: [HOST, { ...HOST, name: "b", protocol: "GRPC" }] }).put(route("web", [{}])),
    "MixedSettings",
    "api and b",
  ],
  [
    "names in one rule another object that speaks otherwise first",
    routed([{ name: "rpc" }, {}]).put(
      endpoints("rpc", { endpoints: [{ ...HOST, protocol: "GRPC" }] }),
    ),
    "MixedSettings",
    "rules of their own",
  ],
];
for (const [what, model, reason, part] of ROUTE_PROBLEMS) {
  Deno.test(`M188 a route that ${what} says ${reason}`, () => {
    assertEquals(condition(model, "ResolvedRefs"), `False ${reason}`);
    assertStringIncludes(messageOf(status(model), "ResolvedRefs"), part);
  });
}

Deno.test("a grant permits a route of another namespace", () => {
  const model = routed([{ namespace: "apps" }], { namespace: "shop" }).put(grant("shop"));
  assertEquals(condition(model, "ResolvedRefs"), "True ResolvedRefs");
});

Deno.test("while a route names the object and Envoy Gateway never called, it says HooksNotCalled", () => {
  const model = routed();
  model.hooks = { failedAt: new Map(), servedHash: new Map() };
  assertEquals(condition(model, "ResolvedRefs"), "False HooksNotCalled");
  assertStringIncludes(messageOf(status(model), "ResolvedRefs"), "infra/eg");
  model.remove(HTTP_ROUTE, "apps/web");
  assertEquals(condition(model, "ResolvedRefs"), "True ResolvedRefs");
});

Deno.test("after a restart Envoy Gateway's word on the revision shows that it calls the hooks", () => {
  const model = routed();
  model.hooks = { failedAt: new Map(), servedHash: new Map() };
  const revision = TailscaleGatewayRevision.create({ name: "eg", namespace: "infra" }, {
    targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" }],
    revision: "h.0",
  });
  const ancestors = [{ ancestorRef: { name: "eg" }, controllerName: "eg", conditions: [] }];
  model.put({ ...revision, status: { ancestors } });
  assertEquals(condition(model, "ResolvedRefs"), "True ResolvedRefs");
});

Deno.test("a route to an object without a ready egress proxy says NoReadyProxies", () => {
  for (const [type, key] of [[STATEFUL_SET, "egress"], [SERVICE, "egress-svc"]] as const) {
    const model = routed();
    model.remove(type, `apps/intranet-${key}`);
    assertEquals(condition(model, "ResolvedRefs"), "False NoReadyProxies");
  }
});

Deno.test("without routes proxies that are not ready are no matter of references", () => {
  const model = fresh({ endpoints: [HOST] });
  assertEquals(condition(model, "ResolvedRefs"), "True ResolvedRefs");
});

Deno.test("the conditions carry the generation, and their time moves only when they flip", () => {
  const model = atRest();
  const before = status(model).conditions?.map(({ lastTransitionTime }) => lastTransitionTime);
  model.put({ ...endpoints("intranet", {}, { generation: 5 }), status: status(model) });
  model.now = NOW + 60_000;
  const { conditions = [] } = status(model);
  assertEquals(
    new Set(conditions.map(({ observedGeneration }) => observedGeneration)),
    new Set([5]),
  );
  assertEquals(conditions.map(({ lastTransitionTime }) => lastTransitionTime), before);
});

Deno.test("M228 what was made for an object, its routes and its tailnet wake the controller", () => {
  const model = routed();
  const key = (type: { kind: string }, object: Parameters<typeof keyOf>[0]) =>
    endpointsController.mappings.filter((mapping) => mapping.type.kind === type.kind)
      .flatMap(({ keys }) => keys(object as never, model.world));
  for (const type of [STATEFUL_SET, SERVICE, SECRET, POD]) {
    const [made] = model.all(type);
    assert(made);
    assertEquals(key(type, made), ["apps/intranet"], type.kind);
  }
  assertEquals(key(HTTP_ROUTE, route("web", [{}])), ["apps/intranet"]);
  assertEquals(key(HTTP_ROUTE, route("web", [{ kind: "TailscaleServices" }])), []);
  assertEquals(key({ kind: "ReferenceGrant" }, grant("shop")), ["apps/intranet"]);
  assertEquals(key({ kind: "TailscaleTailnet" }, { metadata: { name: "corp" } }), [
    "apps/intranet",
  ]);
  assertEquals(endpointsController.keysOfTailnet?.("corp", model.world), ["apps/intranet"]);
  assertEquals(actions(model), []);
  assertEquals(plan(model)?.wakeAt, undefined);
});
