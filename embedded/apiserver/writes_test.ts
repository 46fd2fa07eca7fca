import { assert, assertEquals } from "@std/assert";
import type { KubeObject } from "../../core/object.ts";
import type { JsonMap } from "./json.ts";
import { CONFIG_MAPS, configMap, TestServer } from "./testing.ts";

const TAILNETS = "/apis/gateway.tailscale.com/v1alpha1/tailscaletailnets";
const SERVICES = "/api/v1/namespaces/default/services";
const SECRETS = "/api/v1/namespaces/default/secrets";

function tailnet(more: JsonMap = {}): JsonMap {
  const apiVersion = "gateway.tailscale.com/v1alpha1";
  return { apiVersion, kind: "TailscaleTailnet", metadata: { name: "t" }, ...more };
}

function service(name: string, spec: JsonMap = {}): JsonMap {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  };
}

Deno.test("writes of the object leave the status alone, and the other way round", async () => {
  const api = new TestServer();
  const created = await api.post(TAILNETS, tailnet({ spec: { tailnet: "-" }, status: { x: 1 } }));
  assertEquals([created.body.status, created.body.metadata.generation], [undefined, 1]);
  const path = `${TAILNETS}/t`;
  const both = { spec: { tailnet: "acme" }, status: { ready: true } };
  const status = await api.mergePatch(`${path}/status`, both);
  assertEquals([status.body.spec.tailnet, status.body.status], ["-", { ready: true }]);
  assertEquals(status.body.metadata.generation, 1);
  const main = await api.mergePatch(path, { spec: { tailnet: "acme" }, status: null });
  assertEquals([main.body.spec.tailnet, main.body.status], ["acme", { ready: true }]);
  assertEquals(main.body.metadata.generation, 2);
});

Deno.test("the generation counts changes of the spec, not those of metadata or status", async () => {
  const api = new TestServer();
  await api.post(TAILNETS, tailnet({ spec: { tailnet: "-" } }));
  const label = await api.mergePatch(`${TAILNETS}/t`, { metadata: { labels: { a: "b" } } });
  assertEquals(label.body.metadata.generation, 1);
  const status = await api.mergePatch(`${TAILNETS}/t/status`, { status: { a: 1 } });
  assertEquals(status.body.metadata.generation, 1);
  const spec = await api.mergePatch(`${TAILNETS}/t`, { spec: { tailnet: "x" } });
  assertEquals(spec.body.metadata.generation, 2);
});

Deno.test("a write that changes nothing keeps the resourceVersion and tells no watch", async () => {
  const api = new TestServer();
  const { body } = await api.post(CONFIG_MAPS, configMap("a", { data: { x: "1" } }));
  const { resourceVersion } = body.metadata;
  const same = [
    await api.put(`${CONFIG_MAPS}/a`, body),
    await api.mergePatch(`${CONFIG_MAPS}/a`, { data: { x: "1" } }),
    await api.jsonPatch(`${CONFIG_MAPS}/a`, [{ op: "replace", path: "/data/x", value: "1" }]),
  ];
  for (const answer of same) assertEquals(answer.body, body);
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=${resourceVersion}`);
  await api.post(CONFIG_MAPS, configMap("b"));
  assertEquals(await watch.take(1), ["ADDED b"]);
  await watch.cancel();
});

Deno.test("an update with an old resourceVersion is a conflict", async () => {
  const api = new TestServer();
  const { body } = await api.post(CONFIG_MAPS, configMap("a"));
  await api.mergePatch(`${CONFIG_MAPS}/a`, { data: { x: "1" } });
  const stale = await api.put(`${CONFIG_MAPS}/a`, { ...body, data: { x: "2" } });
  assertEquals([stale.status, stale.body.reason], [409, "Conflict"]);
  const { resourceVersion } = body.metadata;
  const patch = { metadata: { resourceVersion }, data: { x: "2" } };
  assertEquals((await api.mergePatch(`${CONFIG_MAPS}/a`, patch)).status, 409);
});

Deno.test("a custom object can't be replaced without a resourceVersion", async () => {
  const api = new TestServer();
  await api.post(TAILNETS, tailnet());
  const { status, body } = await api.put(`${TAILNETS}/t`, tailnet());
  assertEquals([status, body.details.causes[0].field], [422, "metadata.resourceVersion"]);
});

Deno.test("a namespaced object needs a namespace that is there", async () => {
  const api = new TestServer();
  const { status, body } = await api.post("/api/v1/namespaces/nope/configmaps", configMap("a"));
  assertEquals([status, body.message], [404, 'namespaces "nope" not found']);
});

Deno.test("names and labels are checked", async () => {
  const api = new TestServer();
  const bad = [
    configMap("Upper"),
    configMap("under_score"),
    configMap("x".repeat(254)),
    configMap("a", { metadata: { labels: { ok: "x".repeat(64) } } }),
    configMap("a", { metadata: { labels: { "not ok": "x" } } }),
    configMap(""),
  ];
  for (const object of bad) {
    const { status, body } = await api.post(CONFIG_MAPS, object);
    assertEquals([status, body.reason], [422, "Invalid"], JSON.stringify(object).slice(0, 80));
  }
  assertEquals((await api.post(SERVICES, service("a.b"))).status, 422);
});

Deno.test("generateName is completed to a name", async () => {
  const api = new TestServer();
  const object = { ...configMap(""), metadata: { generateName: "web-" } };
  const { body } = await api.post(CONFIG_MAPS, object);
  assert(/^web-[a-z0-9]{5}$/.test(body.metadata.name), body.metadata.name);
});

/** A schema's default: `spec.replicas` is 2. */
function twoReplicas(object: KubeObject): KubeObject {
  const { spec } = object as KubeObject & { spec?: JsonMap };
  return { ...object, spec: { replicas: 2, ...spec } } as KubeObject;
}

Deno.test("the hooks set defaults and refuse, as a schema does", async () => {
  const api = new TestServer({
    defaults: twoReplicas,
    validate: (object) => object.metadata.name === "bad" ? ["spec.tailnet: Required value"] : [],
  });
  const good = await api.post(TAILNETS, tailnet());
  assertEquals(good.body.spec, { replicas: 2 });
  const bad = await api.post(TAILNETS, tailnet({ metadata: { name: "bad" } }));
  assertEquals(bad.status, 422);
  assertEquals(
    bad.body.message,
    'TailscaleTailnet.gateway.tailscale.com "bad" is invalid: spec.tailnet: Required value',
  );
  assertEquals(bad.body.details, {
    name: "bad",
    group: "gateway.tailscale.com",
    kind: "TailscaleTailnet",
    causes: [{ reason: "FieldValueRequired", message: "Required value", field: "spec.tailnet" }],
  });
});

Deno.test("the defaults of a schema belong to nobody, and a second apply changes nothing", async () => {
  const api = new TestServer({
    defaults: twoReplicas,
  });
  const path = `${TAILNETS}/t`;
  const first = await api.apply(path, "one", tailnet({ spec: { tailnet: "-" } }));
  assertEquals(first.body.spec, { replicas: 2, tailnet: "-" });
  assertEquals(first.body.metadata.managedFields[0].fieldsV1, { "f:spec": { "f:tailnet": {} } });
  assertEquals(
    (await api.apply(path, "one", tailnet({ spec: { tailnet: "-" } }))).body,
    first.body,
  );
});

Deno.test("a null, or a map that an apply empties, is refused in a custom kind", async () => {
  const api = new TestServer();
  const path = `${TAILNETS}/t`;
  const nulled = await api.post(TAILNETS, tailnet({ spec: { tags: null } }));
  assertEquals([nulled.status, nulled.body.details.causes[0].field], [422, "spec.tags"]);
  await api.apply(path, "one", tailnet({ spec: { map: { a: "1" } } }));
  const emptied = await api.apply(path, "one", tailnet({ spec: { map: {} } }));
  assertEquals([emptied.status, emptied.body.details.causes[0].field], [422, "spec.map"]);
  const dropped = await api.apply(path, "one", tailnet());
  assertEquals([dropped.status, dropped.body.spec], [200, undefined]);
});

Deno.test("a Secret's stringData is stored as data, and its type stays", async () => {
  const api = new TestServer();
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "s" },
    stringData: { a: "é" },
  };
  const { body } = await api.post(SECRETS, secret);
  assertEquals([body.data, body.stringData, body.type], [{ a: "w6k=" }, undefined, "Opaque"]);
  assertEquals((await api.mergePatch(`${SECRETS}/s`, { type: "x/y" })).status, 422);
  assertEquals((await api.mergePatch(`${SECRETS}/s`, { data: { b: "%" } })).status, 422);
});

Deno.test("each Service gets an address of its own and keeps it; a headless one gets none", async () => {
  const api = new TestServer();
  const [a, b] = [await api.post(SERVICES, service("a")), await api.post(SERVICES, service("b"))];
  const address = a.body.spec.clusterIP;
  assert(/^10\.96\.\d+\.\d+$/.test(address), address);
  assert(address !== b.body.spec.clusterIP);
  const headless = await api.post(SERVICES, service("h", { clusterIP: "None" }));
  assertEquals(headless.body.spec.clusterIPs, ["None"]);
  const replaced = await api.put(`${SERVICES}/a`, service("a", { ports: [{ port: 81 }] }));
  assertEquals(replaced.body.spec.clusterIP, address);
  const moved = await api.mergePatch(`${SERVICES}/a`, { spec: { clusterIP: "10.96.9.9" } });
  assertEquals(moved.status, 422);
  const taken = await api.post(SERVICES, service("c", { clusterIP: address }));
  assertEquals(taken.status, 422);
});

Deno.test("what may not change of a StatefulSet is refused", async () => {
  const api = new TestServer();
  const path = "/apis/apps/v1/namespaces/default/statefulsets";
  const template = {
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "main", image: "web:1" }] },
  };
  const spec = { serviceName: "web", selector: { matchLabels: { app: "web" } }, template };
  const object = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "web" }, spec };
  assertEquals((await api.post(path, object)).status, 201);
  assertEquals((await api.mergePatch(`${path}/web`, { spec: { serviceName: "x" } })).status, 422);
  assertEquals((await api.mergePatch(`${path}/web`, { spec: { replicas: 3 } })).status, 200);
  const labels = { spec: { template: { metadata: { labels: { app: "x" } } } } };
  assertEquals((await api.mergePatch(`${path}/web`, labels)).status, 422);
  const scaled = await api.mergePatch(`${path}/web/scale`, { spec: { replicas: 5 } });
  assertEquals([scaled.body.kind, scaled.body.spec.replicas], ["Scale", 5]);
  assertEquals((await api.get(`${path}/web`)).body.spec.replicas, 5);
});

Deno.test("deletion waits for finalizers, and admits no new ones", async () => {
  const api = new TestServer();
  const path = `${CONFIG_MAPS}/a`;
  await api.post(CONFIG_MAPS, configMap("a", { metadata: { finalizers: ["x.io/f"] } }));
  const deleted = await api.delete(path);
  assert(deleted.body.metadata.deletionTimestamp);
  assertEquals((await api.delete(path)).body, deleted.body);
  const added = await api.mergePatch(path, { metadata: { finalizers: ["x.io/f", "x.io/g"] } });
  assertEquals(added.status, 422);
  const last = await api.mergePatch(path, { metadata: { finalizers: [] } });
  assertEquals(last.status, 200);
  assertEquals((await api.get(path)).status, 404);
});

Deno.test("a deletion's preconditions must hold", async () => {
  const api = new TestServer();
  const { body } = await api.post(CONFIG_MAPS, configMap("a"));
  const { uid } = body.metadata;
  const path = `${CONFIG_MAPS}/a`;
  assertEquals((await api.delete(path, { preconditions: { uid: "other" } })).status, 409);
  assertEquals((await api.delete(path, { preconditions: { resourceVersion: "1" } })).status, 409);
  assertEquals((await api.delete(path, { preconditions: { uid } })).status, 200);
});

Deno.test("deleting a collection takes what the selector picks", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, configMap("a", { metadata: { labels: { x: "1" } } }));
  await api.post(CONFIG_MAPS, configMap("b"));
  await api.delete(`${CONFIG_MAPS}?labelSelector=x%3D1`);
  assertEquals((await api.get(CONFIG_MAPS)).body.items.length, 1);
});

Deno.test("objects that the server hands out are copies", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, configMap("a", { data: { x: "1" } }));
  const type = {
    group: "",
    version: "v1",
    kind: "ConfigMap",
    plural: "configmaps",
    namespaced: true,
  };
  const [object] = api.server.objects(type);
  assert(object);
  object.metadata.name = "changed";
  assertEquals(api.server.objects(type)[0]?.metadata.name, "a");
});
