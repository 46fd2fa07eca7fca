import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../core/clock_fake.ts";
import type { ManagedFieldsEntry } from "../../core/object.ts";
import type { JsonMap } from "./json.ts";
import { CONFIG_MAPS, configMap, TestServer } from "./testing.ts";

const PATH = `${CONFIG_MAPS}/a`;
const STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets";
const ENDPOINTS = "/apis/gateway.tailscale.com/v1alpha1/namespaces/default/tailscaleendpoints";

function data(values: JsonMap): JsonMap {
  return configMap("a", { data: values });
}

function entry(body: { metadata: { managedFields?: ManagedFieldsEntry[] } }, manager: string) {
  return body.metadata.managedFields?.find((e) => e.manager === manager);
}

function statefulSet(container: JsonMap, more: JsonMap = {}): JsonMap {
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "web" },
    spec: {
      serviceName: "web",
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "main", image: "web:1", ...container }] },
      },
      ...more,
    },
  };
}

Deno.test("apply sets the manager's time when a value changes, and keeps it when none does", async () => {
  const clock = new FakeClock();
  const api = new TestServer({ clock });
  const timeAfter = async (value: string) => {
    clock.advance(60_000);
    return entry((await api.apply(PATH, "one", data({ x: value }))).body, "one")?.time;
  };
  const first = await timeAfter("1");
  assertEquals(await timeAfter("1"), first);
  assert(await timeAfter("2") !== first);
});

Deno.test("apply records the manager's fields in fieldsV1", async () => {
  const api = new TestServer();
  const { body } = await api.apply(PATH, "one", { ...data({ x: "1" }) });
  const owned = entry(body, "one");
  assertEquals(owned?.operation, "Apply");
  assertEquals(owned?.apiVersion, "v1");
  assertEquals(owned?.fieldsType, "FieldsV1");
  assertEquals(owned?.fieldsV1, { "f:data": { "f:x": {} } });
});

Deno.test("apply names list items by their keys, with the default of an absent key", async () => {
  const api = new TestServer();
  const container = { ports: [{ containerPort: 80 }], env: [{ name: "A", value: "1" }] };
  const { body } = await api.apply(`${STATEFUL_SETS}/web`, "one", statefulSet(container));
  const spec = entry(body, "one")?.fieldsV1?.["f:spec"] as JsonMap;
  assertEquals(spec, {
    "f:selector": {},
    "f:serviceName": {},
    "f:template": {
      "f:metadata": { "f:labels": { "f:app": {} } },
      "f:spec": {
        "f:containers": {
          'k:{"name":"main"}': {
            ".": {},
            "f:name": {},
            "f:image": {},
            "f:env": { 'k:{"name":"A"}': { ".": {}, "f:name": {}, "f:value": {} } },
            "f:ports": {
              'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} },
            },
          },
        },
      },
    },
  });
});

Deno.test("applying the same again changes nothing, server defaults or not", async () => {
  const api = new TestServer();
  const first = await api.apply(`${STATEFUL_SETS}/web`, "one", statefulSet({}));
  assertEquals(first.body.spec.replicas, 1);
  const again = await api.apply(`${STATEFUL_SETS}/web`, "one", statefulSet({}));
  assertEquals([again.status, again.body], [200, first.body]);
});

Deno.test("two managers' fields merge, and each keeps its own", async () => {
  const api = new TestServer();
  await api.apply(PATH, "one", data({ x: "1" }));
  const { body } = await api.apply(PATH, "two", data({ y: "2" }));
  assertEquals(body.data, { x: "1", y: "2" });
  assertEquals(entry(body, "one")?.fieldsV1, { "f:data": { "f:x": {} } });
  assertEquals(entry(body, "two")?.fieldsV1, { "f:data": { "f:y": {} } });
});

Deno.test("a field that its only manager stops to apply is removed; a shared one stays", async () => {
  const api = new TestServer();
  await api.apply(PATH, "one", data({ x: "1", shared: "s" }));
  await api.apply(PATH, "two", data({ shared: "s" }));
  const { body } = await api.apply(PATH, "one", data({ z: "3" }));
  assertEquals(body.data, { shared: "s", z: "3" });
});

Deno.test("a conflict is a 409 with a cause for each field, naming the manager", async () => {
  const api = new TestServer();
  await api.apply(PATH, "one", data({ x: "1", y: "1" }));
  const { status, body } = await api.apply(PATH, "two", data({ x: "2", y: "2" }));
  assertEquals([status, body.reason], [409, "Conflict"]);
  assertEquals(
    body.message,
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.x\n- .data.y',
  );
  assertEquals(body.details.causes, [
    { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.x" },
    { reason: "FieldManagerConflict", message: 'conflict with "one"', field: ".data.y" },
  ]);
  assertEquals((await api.get(PATH)).body.data, { x: "1", y: "1" });
});

Deno.test("a conflict with a manager that updated names its version", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, data({ x: "1" }));
  const { status, body } = await api.apply(PATH, "two", data({ x: "2" }));
  assertEquals(status, 409);
  assertEquals(
    body.message,
    'Apply failed with 1 conflict: conflict with "test" using v1: .data.x',
  );
});

Deno.test("force takes the field over, and the other manager loses it", async () => {
  const api = new TestServer();
  await api.apply(PATH, "one", data({ x: "1", y: "1" }));
  const { body } = await api.apply(`${PATH}?force=true`, "two", data({ x: "2" }));
  assertEquals(body.data, { x: "2", y: "1" });
  assertEquals(entry(body, "one")?.fieldsV1, { "f:data": { "f:y": {} } });
  const after = await api.apply(PATH, "two", data({ z: "3" }));
  assertEquals(after.body.data, { y: "1", z: "3" });
});

Deno.test("the same value makes two managers share a field without a conflict", async () => {
  const api = new TestServer();
  await api.apply(PATH, "one", data({ x: "1" }));
  const { status, body } = await api.apply(PATH, "two", data({ x: "1" }));
  assertEquals(status, 200);
  assert(entry(body, "one") && entry(body, "two"));
  const changed = await api.apply(PATH, "two", data({ x: "2" }));
  assertEquals(changed.status, 409);
});

Deno.test("an update takes over what it changes from a manager that applied it", async () => {
  const api = new TestServer();
  await api.apply(PATH, "one", data({ x: "1", y: "1" }));
  const { body } = await api.mergePatch(PATH, { data: { x: "2" } });
  assertEquals(entry(body, "one")?.fieldsV1, { "f:data": { "f:y": {} } });
  assertEquals(entry(body, "test")?.fieldsV1, { "f:data": { "f:x": {} } });
  assertEquals((await api.apply(PATH, "one", data({ x: "1", y: "1" }))).status, 409);
});

Deno.test("items of other managers stay in a list that is merged by key", async () => {
  const api = new TestServer();
  const path = `${ENDPOINTS}/e`;
  const object = (endpoints: JsonMap[]) => ({
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: "TailscaleEndpoints",
    metadata: { name: "e" },
    spec: { endpoints },
  });
  await api.apply(path, "one", object([{ name: "a", port: 1 }, { name: "b", port: 2 }]));
  const both = await api.apply(path, "two", object([{ name: "c", port: 3 }]));
  const names = (body: { spec: { endpoints: { name: string }[] } }) =>
    body.spec.endpoints.map((endpoint) => endpoint.name).sort();
  assertEquals(names(both.body), ["a", "b", "c"]);
  const less = await api.apply(path, "one", object([{ name: "b", port: 2 }]));
  assertEquals(names(less.body), ["b", "c"]);
});

Deno.test("managers share a list that the CRD says is a set", async () => {
  const api = new TestServer();
  const object = (tags: string[]) => ({
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: "TailscaleEndpoints",
    metadata: { name: "e" },
    spec: { tags },
  });
  await api.apply(`${ENDPOINTS}/e`, "one", object(["tag:a"]));
  const { body } = await api.apply(`${ENDPOINTS}/e`, "two", object(["tag:b"]));
  assertEquals(body.spec.tags, ["tag:a", "tag:b"]);
});

Deno.test("a list without keys belongs to one manager as a whole", async () => {
  const api = new TestServer();
  const path = ENDPOINTS.replace("tailscaleendpoints", "tailscaleroutepolicies") + "/p";
  const object = (type: string) => ({
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: "TailscaleRoutePolicy",
    metadata: { name: "p" },
    spec: { rules: [{ actions: [{ type }] }] },
  });
  await api.apply(path, "one", object("Allow"));
  const { body } = await api.apply(path, "two", object("Deny"));
  assertEquals(body.message, 'Apply failed with 1 conflict: conflict with "one": .spec.rules');
});

Deno.test("finalizers are a set that managers share", async () => {
  const api = new TestServer();
  const finalizers = (...list: string[]) => configMap("a", { metadata: { finalizers: list } });
  await api.apply(PATH, "one", finalizers("x.io/one"));
  const both = await api.apply(PATH, "two", finalizers("x.io/two"));
  assertEquals(both.body.metadata.finalizers, ["x.io/one", "x.io/two"]);
  const left = await api.apply(PATH, "one", configMap("a"));
  assertEquals(left.body.metadata.finalizers, ["x.io/two"]);
  assertEquals(entry(left.body, "two")?.fieldsV1, {
    "f:metadata": { "f:finalizers": { 'v:"x.io/two"': {} } },
  });
});

Deno.test("a list item goes with who applied it, though another manager updated a field in it", async () => {
  const api = new TestServer();
  const path = `${STATEFUL_SETS}/web`;
  const sidecar = { name: "side", image: "side:1" };
  const withSidecar = statefulSet({});
  const spec = withSidecar["spec"] as { template: { spec: { containers: JsonMap[] } } };
  spec.template.spec.containers.push(sidecar);
  await api.apply(path, "one", withSidecar);
  await api.jsonPatch(path, [
    { op: "replace", path: "/spec/template/spec/containers/1/image", value: "side:2" },
  ]);
  const { body } = await api.apply(path, "one", statefulSet({}));
  const names = body.spec.template.spec.containers.map((c: { name: string }) => c.name);
  assertEquals(names, ["main"]);
  assertEquals(entry(body, "test"), undefined);
});

Deno.test("apply refuses what the real server refuses", async () => {
  const api = new TestServer();
  const withoutManager = await api.call("PATCH", PATH, {
    body: data({}),
    type: "application/apply-patch+yaml",
  });
  assertEquals([withoutManager.status, withoutManager.body.reason], [422, "Invalid"]);
  const fields = configMap("a", { metadata: { managedFields: [{ manager: "x" }] } });
  const managed = await api.apply(PATH, "one", fields);
  assertEquals([managed.status, managed.body.message], [400, "metadata.managedFields must be nil"]);
  const other = await api.apply(PATH, "one", configMap("b"));
  assertEquals(other.status, 400);
  const uid = await api.apply(PATH, "one", configMap("a", { metadata: { uid: "u" } }));
  assertEquals(uid.status, 409);
  const env = [{ name: "A", value: "1" }, { name: "A", value: "2" }];
  const twice = await api.apply(`${STATEFUL_SETS}/web`, "one", statefulSet({ env }));
  assertEquals(twice.status, 500);
  assert(twice.body.message.includes('duplicate entries for key [name="A"]'), twice.body.message);
});

Deno.test("an apply with an old resourceVersion is a conflict", async () => {
  const api = new TestServer();
  const first = await api.apply(PATH, "one", data({ x: "1" }));
  await api.apply(PATH, "one", data({ x: "2" }));
  const { resourceVersion } = first.body.metadata;
  const stale = configMap("a", { metadata: { resourceVersion }, data: { x: "3" } });
  const { status, body } = await api.apply(PATH, "one", stale);
  assertEquals([status, body.reason], [409, "Conflict"]);
});

Deno.test("a dry run answers what would be and stores nothing", async () => {
  const api = new TestServer();
  const { status, body } = await api.apply(`${PATH}?dryRun=All`, "one", data({ x: "1" }));
  assertEquals([status, body.data], [201, { x: "1" }]);
  assertEquals((await api.get(PATH)).status, 404);
});
