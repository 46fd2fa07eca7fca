import { assert, assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { encodeBase64 } from "../../core/base64.ts";
import { timestamp } from "../../core/conditions.ts";
import { Annotation, controllerRef } from "../../core/labels.ts";
import type { KubeObject } from "../../core/object.ts";
import type { Pod, StatefulSet } from "../../api/core_objects.ts";
import { POD, SECRET, STATEFUL_SET } from "../../api/resources.ts";
import { egress, endpoints, NOW, refused, tailnet, usable } from "../testing/builders.ts";
import { messageOf } from "../testing/conditions.ts";
import { Model } from "../testing/model.ts";
import {
  actions,
  atRest,
  condition,
  config,
  edit,
  fresh,
  know,
  plan,
  remove,
  run,
  secretOf,
  type Spec,
  status,
} from "./testing.ts";

Deno.test("M66 M67 M68 M72 M73 a new object gets what its proxies need, the StatefulSet last", () => {
  const model = fresh();
  model.put(endpoints("intranet", {}, { finalizers: [] }));
  assertEquals(run(model), [
    "apply TailscaleEndpoints intranet",
    "apply ServiceAccount intranet-egress",
    "apply Role intranet-egress",
    "apply RoleBinding intranet-egress",
    "apply NetworkPolicy intranet-egress",
    "apply Service intranet-egress-svc",
    "apply Secret intranet-egress-0",
    "apply Secret intranet-egress-1",
    "mint apps intranet-egress-0",
    "mint apps intranet-egress-1",
    "apply StatefulSet intranet-egress",
  ]);
});

Deno.test("M14 replicas without their own configuration are not run", () => {
  const model = fresh();
  model.tailnets.set("corp", refused());
  run(model);
  assertEquals(model.get(STATEFUL_SET, "apps/intranet-egress"), undefined);
  assertEquals(model.keys.size, 0);
  know(model);
  run(model);
  assert(model.get(STATEFUL_SET, "apps/intranet-egress"));
});

Deno.test("M13 M62 M93 a key carries the tailnet's tags and the object's own, each once", () => {
  const model = fresh({ tags: ["tag:db", "tag:k8s"] });
  model.put(tailnet("corp", { tags: ["tag:k8s", "tag:edge"] }));
  run(model);
  assertEquals(model.keys.get("key-1")?.tags, ["tag:k8s", "tag:edge", "tag:db"]);
});

Deno.test("M12 proxies log in at the control server that the tailnet names", () => {
  const model = fresh();
  model.put(tailnet("corp", { loginURL: "https://control.example.com/" }));
  run(model);
  assertEquals(config(model, 0)?.ServerURL, "https://control.example.com");
});

Deno.test("M93 the description of a key is one that Tailscale takes", () => {
  const model = new Model(
    tailnet(),
    endpoints("intranet", { proxy: egress(1, { hostnamePrefix: "x".repeat(52) }) }),
  );
  model.tailnets.set("corp", usable());
  run(model);
  for (const { description } of model.keys.values()) {
    assert(/^[A-Za-z0-9][A-Za-z0-9 -]{0,49}$/.test(description), description);
  }
});

Deno.test("at rest there is nothing to do, and the status does not move", () => {
  const model = atRest();
  const before = status(model);
  model.now += 3_600_000;
  assertEquals([actions(model), status(model)], [[], before]);
});

Deno.test("a key that waits in a config Secret is kept, and only looked at again when it expires", () => {
  const model = fresh();
  run(model);
  assertEquals([actions(model), model.keys.size], [[], 2]);
  const expires = Date.parse(
    secretOf(model, "intranet-egress-0-config").metadata.annotations?.[Annotation.authKeyExpires] ??
      "",
  );
  assertEquals(plan(model)?.wakeAt, expires);
});

Deno.test("a key that expired before it was used is revoked and made anew", () => {
  const model = fresh({ proxy: egress(1) });
  run(model);
  model.now += 91 * 24 * 3_600_000;
  assertEquals(run(model), ["revoke key-1", "mint apps intranet-egress-0"]);
  assertEquals(config(model, 0)?.AuthKey, "tskey-auth-key-2");
});

Deno.test("an expired key is kept while the tailnet cannot make another, and the rest follows the spec", () => {
  const model = fresh({ proxy: egress(1) });
  run(model);
  model.now += 91 * 24 * 3_600_000;
  model.tailnets.set("corp", refused());
  assertEquals(actions(model), []);
  edit(model, { proxy: egress(1, { hostnamePrefix: "edge" }) });
  run(model);
  assertEquals([config(model, 0)?.AuthKey, config(model, 0)?.Hostname], [
    "tskey-auth-key-1",
    "edge-egress-0",
  ]);
});

Deno.test("a config Secret that somebody broke is written anew, and its key revoked", () => {
  const model = fresh({ proxy: egress(1) });
  run(model);
  const broken = secretOf(model, "intranet-egress-0-config");
  model.put({ ...broken, data: { "cap-106.hujson": encodeBase64("{") } });
  assertEquals(run(model), ["revoke key-1", "mint apps intranet-egress-0"]);
});

Deno.test("M94 the key is dropped once the device is there, and no other is made", () => {
  const model = atRest();
  assertEquals([config(model, 0)?.AuthKey, model.keys.size], [undefined, 2]);
  const { annotations = {} } = secretOf(model, "intranet-egress-0-config").metadata;
  assertEquals(annotations[Annotation.authKeyId], undefined);
});

Deno.test("a change of the configuration is told to the pods, without a restart", () => {
  const model = atRest();
  const template = () =>
    model.get<StatefulSet>(STATEFUL_SET, "apps/intranet-egress")?.spec.template;
  const before = template();
  edit(model, { proxy: egress(2, { acceptRoutes: false }) });
  assertEquals(run(model), [
    "apply Secret intranet-egress-0-config",
    "apply Secret intranet-egress-1-config",
    "apply Pod intranet-egress-0",
    "apply Pod intranet-egress-1",
  ]);
  assertEquals(template(), before);
  assertEquals(config(model, 0)?.acceptRoutes, false);
});

Deno.test("a pod that is going is not told anything", () => {
  const model = atRest();
  const pod = model.get<Pod>(POD, "apps/intranet-egress-0")!;
  const metadata = { ...pod.metadata, annotations: {}, deletionTimestamp: timestamp(NOW) };
  model.put({ ...pod, metadata });
  assertEquals(actions(model), []);
});

Deno.test("M81 scaling up makes the new replica's Secrets first, and keeps the template", () => {
  const model = atRest();
  const template = model.get<StatefulSet>(STATEFUL_SET, "apps/intranet-egress")?.spec.template;
  edit(model, { proxy: egress(3) });
  assertEquals(run(model), [
    "apply Role intranet-egress",
    "apply Secret intranet-egress-2",
    "mint apps intranet-egress-2",
    "apply StatefulSet intranet-egress",
  ]);
  const after = model.get<StatefulSet>(STATEFUL_SET, "apps/intranet-egress");
  assertEquals([after?.spec.template, after?.spec.replicas], [template, 3]);
});

Deno.test("M105 scaling down removes device and Secrets once the pod is gone, not before", () => {
  const model = atRest();
  edit(model, { proxy: egress(1) });
  assertEquals(run(model), ["apply Role intranet-egress", "apply StatefulSet intranet-egress"]);
  model.runPods();
  assertEquals(run(model), [
    "deleteDevice n-intranet-egress-1",
    "delete Secret intranet-egress-1",
    "delete Secret intranet-egress-1-config",
  ]);
  assertEquals(model.devices.map(({ nodeId }) => nodeId), ["n-intranet-egress-0"]);
});

Deno.test("a replica that never logged in takes its key with it", () => {
  const model = fresh();
  run(model);
  edit(model, { proxy: egress(1) });
  run(model);
  assertEquals([model.keys.get("key-1")?.revoked, model.keys.get("key-2")?.revoked], [false, true]);
});

Deno.test("replicas beyond what is wanted wait for a tailnet that cannot be used", () => {
  const model = atRest();
  edit(model, { proxy: egress(1) });
  run(model);
  model.runPods();
  model.tailnets.set("corp", refused());
  assertEquals(actions(model), []);
});

Deno.test("no replicas are wanted: nothing runs, and the object is ready", () => {
  const model = atRest({ proxy: egress(0) });
  assertEquals(model.all(POD), []);
  assertEquals(condition(model, "StatefulSetsReady"), "True NoReplicas");
  assertEquals(condition(model, "DevicesReady"), "True NoReplicas");
  assertEquals(condition(model, "Ready"), "True Ready");
});

/** An object of the operator's that was made for somebody else. */
function foreign(kind: string, apiVersion: string, name: string): KubeObject {
  const labels = {
    "app.kubernetes.io/managed-by": "tailscale-gateway",
    "gateway.tailscale.com/parent-kind": "TailscaleEndpoints",
    "gateway.tailscale.com/parent-namespace": "apps",
    "gateway.tailscale.com/parent-name": "intranet",
  };
  const ownerReferences = [controllerRef(endpoints("intranet", {}, { uid: "uid-of-another" }))];
  return { apiVersion, kind, metadata: { name, namespace: "apps", labels, ownerReferences } };
}

for (
  const [kind, apiVersion, name] of [
    ["Service", "v1", "intranet-egress-svc"],
    ["StatefulSet", "apps/v1", "intranet-egress"],
    ["Secret", "v1", "intranet-egress-1"],
    ["Secret", "v1", "intranet-egress-0-config"],
  ] as const
) {
  Deno.test(`a ${kind} ${name} of another owner is left alone, and nothing is made beside it`, () => {
    const model = fresh().put(foreign(kind, apiVersion, name));
    assertEquals(actions(model), []);
    assertEquals(condition(model, "Accepted"), "False Conflicted");
    assertEquals(condition(model, "Ready"), "False Conflicted");
    assertStringIncludes(messageOf(status(model), "Ready"), `${kind} ${name}`);
  });
}

Deno.test("what only bears the labels is not removed with the object", () => {
  const model = atRest();
  model.put(foreign("Secret", "v1", "intranet-egress-7"));
  remove(model);
  run(model, 10);
  assert(model.get(SECRET, "apps/intranet-egress-7"));
});

const UNSUPPORTED: readonly [Spec, string][] = [
  [{ proxyGroup: "shared" }, "proxyGroup"],
  [{ proxy: { connectionType: "ingress" } }, "proxy.connectionType: ingress"],
  [{ proxy: {} }, "proxy.connectionType: bidirectional"],
  [{ proxy: egress(1, { networking: "Kernel" }) }, "proxy.networking: Kernel"],
  [{ autoDiscovery: { enabled: true } }, "autoDiscovery"],
  [{ ports: [{ port: 80 }] }, "ports"],
  [
    { endpoints: [{ name: "a", externalTarget: "web.apps.svc:80" }] },
    "externalTarget of endpoint a",
  ],
  [{ endpoints: [host("a", { protocol: "HTTPS", tls: {} })] }, "tls of endpoint a"],
  ...(["HTTPS", "TLS", "TCP", "UDP"] as const).map((protocol): [Spec, string] => [
    { endpoints: [host("a", { protocol })] },
    `protocol ${protocol} of endpoint a`,
  ]),
];
for (const [spec, what] of UNSUPPORTED) {
  Deno.test(`M15 a spec that asks for ${what} says NotSupported, and nothing is made`, () => {
    const model = fresh(spec);
    assertEquals(actions(model), []);
    assertEquals(condition(model, "Accepted"), "False NotSupported");
    assertStringIncludes(messageOf(status(model), "Accepted"), what);
  });
}

function host(name: string, rest: Record<string, unknown> = {}) {
  return { name, tailscaleIP: "100.64.0.10", port: 8080, ...rest };
}

Deno.test("all that is not supported is named at once", () => {
  const model = fresh({ ports: [{ port: 80 }], proxy: { connectionType: "ingress" } });
  assertStringIncludes(messageOf(status(model), "Ready"), "(set it to egress); ports");
});

Deno.test("M12 an object whose tailnet is not there says so, and makes nothing", () => {
  const model = new Model(endpoints());
  assertEquals([actions(model), condition(model, "Accepted")], [[], "False TailnetNotFound"]);
});

Deno.test("what runs is kept in shape while the tailnet cannot be used", () => {
  const model = atRest();
  model.tailnets.set("corp", refused());
  model.remove(SECRET, "apps/intranet-egress-0-config");
  edit(model, { proxy: egress(2, { image: "mirror/tailscale:2" }) });
  assertEquals(run(model), [
    "apply Secret intranet-egress-0-config",
    "apply StatefulSet intranet-egress",
  ]);
  assertEquals(condition(model, "Ready"), "False TailnetNotReady");
});

Deno.test("before the tailnet was tried, what the status said stands", () => {
  const model = atRest();
  model.tailnets.clear();
  model.unknownTailnets.add("corp");
  assertEquals([actions(model), plan(model)?.status], [[], undefined]);
});

Deno.test("a failed action is what the status says, and its time is kept", () => {
  const model = atRest();
  const failure = { reason: "TagsNotPermitted", message: "tag:db", retryAt: NOW + 60_000 };
  model.failures.set("endpoints apps/intranet", failure);
  assertEquals(condition(model, "Accepted"), "False TagsNotPermitted");
  assertEquals(plan(model)?.wakeAt, NOW + 60_000);
});

Deno.test("a lost state Secret is made again, and the replica gets a new key", () => {
  const model = atRest({ proxy: egress(1) });
  model.remove(SECRET, "apps/intranet-egress-0");
  assertEquals(run(model), ["apply Secret intranet-egress-0", "mint apps intranet-egress-0"]);
  assertNotEquals(config(model, 0)?.AuthKey, undefined);
});
