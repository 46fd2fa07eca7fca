import { assert, assertFalse, assertThrows } from "@std/assert";
import type { KubeObject } from "../object.ts";
import { needsApply } from "./needs_apply.ts";

type Fields = Record<string, unknown>;

/** An object as we want it. */
function wanted(kind: string, more: Fields, metadata: Fields = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind,
    metadata: { name: "x", namespace: "apps", ...metadata },
    ...more,
  };
}

/** An object as the server has it, of which we own `owned` by apply. */
function live(kind: string, more: Fields, owned: Fields, metadata: Fields = {}): KubeObject {
  const managedFields = [
    { manager: "kubectl", operation: "Update", apiVersion: "v1", fieldsV1: { "f:data": {} } },
    {
      manager: "me",
      operation: "Apply",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: owned,
    },
    { manager: "me", operation: "Apply", subresource: "status", fieldsV1: { "f:status": {} } },
  ];
  return wanted(kind, more, { uid: "u", resourceVersion: "5", managedFields, ...metadata });
}

const needs = (have: KubeObject | undefined, want: KubeObject) => needsApply(have, want, "me");

const A_OWNED = { "f:data": { "f:a": {} } };

Deno.test("needsApply() is true for an object that is not there", () => {
  assert(needs(undefined, wanted("ConfigMap", {})));
});

Deno.test("needsApply() is false when all is as wanted, whatever others and the server add", () => {
  const have = live(
    "ConfigMap",
    { data: { a: "1", theirs: "2" }, immutable: false },
    { "f:metadata": { "f:labels": { "f:l": {} } }, ...A_OWNED },
    { labels: { l: "1", theirs: "x" }, annotations: { y: "z" }, creationTimestamp: "now" },
  );
  assertFalse(needs(have, wanted("ConfigMap", { data: { a: "1" } }, { labels: { l: "1" } })));
});

Deno.test("needsApply() is true for a field that differs, is missing, or is ours no longer", () => {
  const have = live("ConfigMap", { data: { a: "1" } }, A_OWNED);
  assert(needs(have, wanted("ConfigMap", { data: { a: "2" } })));
  assert(needs(have, wanted("ConfigMap", { data: { a: "1", b: "1" } })));
  assert(needs(have, wanted("ConfigMap", { data: { a: "1" } }, { labels: { l: "1" } })));
});

Deno.test("needsApply() is true for a field that we own and want no longer", () => {
  const owned = { "f:data": { "f:a": {}, "f:b": {} }, "f:metadata": { "f:labels": { "f:l": {} } } };
  const have = live("ConfigMap", { data: { a: "1", b: "1" } }, owned, { labels: { l: "1" } });
  const labels = { labels: { l: "1" } };
  assert(needs(have, wanted("ConfigMap", { data: { a: "1" } }, labels)), "f:b");
  assert(needs(have, wanted("ConfigMap", { data: { a: "1", b: "1" } })), "f:labels");
  assert(needs(have, wanted("ConfigMap", {}, labels)), "f:data");
  assertFalse(needs(have, wanted("ConfigMap", { data: { a: "1", b: "1" } }, labels)));
});

Deno.test("needsApply() is true where another manager has taken the whole object", () => {
  const have = live("ConfigMap", { data: { a: "1" } }, A_OWNED);
  const want = wanted("ConfigMap", { data: { a: "1" } });
  assert(needsApply(have, want, "somebody-else"));
});

Deno.test("needsApply() is true once when the API version that owns is another one", () => {
  const have = live("ConfigMap", { data: { a: "1" } }, A_OWNED);
  assert(needs(have, { ...wanted("ConfigMap", { data: { a: "1" } }), apiVersion: "v2" }));
});

Deno.test("needsApply() passes over the status", () => {
  const owned = { ...A_OWNED, "f:status": { "f:x": {} } };
  const have = live("ConfigMap", { data: { a: "1" }, status: { x: 1 } }, owned);
  assertFalse(needs(have, wanted("ConfigMap", { data: { a: "1" }, status: { x: 2 } })));
});

Deno.test("needsApply() compares values only where there are no managedFields", () => {
  const have = wanted("ConfigMap", { data: { a: "1", b: "1" } });
  assertFalse(needs(have, wanted("ConfigMap", { data: { a: "1" } })));
  assert(needs(have, wanted("ConfigMap", { data: { a: "2" } })));
});

Deno.test("needsApply() refuses stringData, which can't be compared", () => {
  const have = live("Secret", { data: {} }, {});
  assertThrows(
    () => needs(have, wanted("Secret", { stringData: { a: "b" } })),
    TypeError,
    "base64",
  );
});

/** A pod template of one container. */
const pod = (container: Fields) => ({ spec: { containers: [{ name: "c", ...container }] } });
const podOwned = (container: Fields) => ({
  "f:spec": { "f:containers": { 'k:{"name":"c"}': { ".": {}, "f:name": {}, ...container } } },
});

Deno.test("needsApply() takes quantities for what they are, and only where there are some", () => {
  const owned = { "f:resources": { "f:limits": { "f:cpu": {}, "f:memory": {} } } };
  const have = live(
    "Pod",
    pod({ resources: { limits: { cpu: "1", memory: "1Gi" } } }),
    podOwned(owned),
  );
  const want = (cpu: unknown, memory: string) =>
    wanted("Pod", pod({ resources: { limits: { cpu, memory } } }));
  assertFalse(needs(have, want("1000m", "1024Mi")));
  assertFalse(needs(have, want(1, "1Gi")));
  assert(needs(have, want("1001m", "1Gi")));
  const label = live("Pod", {}, { "f:metadata": { "f:labels": { "f:limits": {} } } }, {
    labels: { limits: "1" },
  });
  assert(needs(label, wanted("Pod", {}, { labels: { limits: "1000m" } })));
});

Deno.test("needsApply() matches items of a list by their keys", () => {
  const env = (items: Fields[]) => pod({ env: items });
  const owned = podOwned({
    "f:env": {
      'k:{"name":"A"}': { ".": {}, "f:name": {}, "f:value": {} },
      'k:{"name":"B"}': { ".": {}, "f:name": {}, "f:value": {} },
    },
  });
  const a = { name: "A", value: "1" };
  const b = { name: "B", value: "2" };
  const theirs = { name: "INJECTED", value: "x" };
  const have = live("Pod", env([theirs, a, b]), owned);
  assertFalse(needs(have, wanted("Pod", env([a, b]))), "a foreign item is left alone");
  assert(needs(have, wanted("Pod", env([a]))), "an item of ours that is not wanted any more");
  assert(needs(have, wanted("Pod", env([a, b, { name: "C", value: "3" }]))), "a new item");
  assert(needs(have, wanted("Pod", env([a, { name: "B", value: "9" }]))), "a changed item");
  assert(needs(have, wanted("Pod", env([a, { name: "B" }]))), "a field of an item dropped");
});

Deno.test("needsApply() sees that our items are in another order, since apply restores it", () => {
  const item = (name: string) => ({ name, value: "1" });
  const set = (name: string) => [`k:{"name":"${name}"}`, { ".": {}, "f:name": {}, "f:value": {} }];
  const owned = podOwned({ "f:env": Object.fromEntries([set("A"), set("B")]) });
  const have = (...names: string[]) => live("Pod", pod({ env: names.map(item) }), owned);
  const want = wanted("Pod", pod({ env: [item("A"), item("B")] }));
  assertFalse(needs(have("A", "THEIRS", "B"), want));
  assert(needs(have("B", "A"), want));
});

Deno.test("needsApply() knows the default of a merge key", () => {
  const owned = podOwned({
    "f:ports": {
      'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} },
    },
  });
  const have = live("Pod", pod({ ports: [{ containerPort: 80, protocol: "TCP" }] }), owned);
  assertFalse(needs(have, wanted("Pod", pod({ ports: [{ containerPort: 80 }] }))));
  assert(needs(have, wanted("Pod", pod({ ports: [{ containerPort: 80, protocol: "UDP" }] }))));
});

Deno.test("needsApply() takes lists that are sets as such", () => {
  const owned = { "f:metadata": { "f:finalizers": { ".": {}, 'v:"ours"': {} } } };
  const have = live("ConfigMap", {}, owned, { finalizers: ["theirs", "ours"] });
  assertFalse(needs(have, wanted("ConfigMap", {}, { finalizers: ["ours"] })));
  assert(needs(have, wanted("ConfigMap", {}, { finalizers: ["ours", "new"] })));
  assert(needs(have, wanted("ConfigMap", {}, { finalizers: [] })));
  assert(needs(have, wanted("ConfigMap", {})));
});

Deno.test("needsApply() takes an atomic list as one value, save for defaults in its items", () => {
  const rule = { ports: [{ port: 1055 }] };
  const owned = { "f:spec": { "f:ingress": {} } };
  const have = (ingress: unknown) => live("NetworkPolicy", { spec: { ingress } }, owned);
  const want = wanted("NetworkPolicy", { spec: { ingress: [rule] } });
  assertFalse(needs(have([{ ports: [{ port: 1055, protocol: "TCP" }] }]), want));
  assert(needs(have([rule, {}]), want), "a further item");
  assert(needs(have([]), want), "fewer items");
  assert(needs(have([{ ports: [{ port: 1056 }] }]), want), "another value");
  const wider = [{ ...rule, from: [{ podSelector: {} }] }];
  assert(needs(have(wider), want), "a field of an item that is not wanted any more");
});

Deno.test("needsApply() takes a selector as one value", () => {
  const have = (selector: Fields) =>
    live("NetworkPolicy", { spec: { podSelector: selector } }, {
      "f:spec": { "f:podSelector": {} },
    });
  const want = (selector: Fields) => wanted("NetworkPolicy", { spec: { podSelector: selector } });
  const app = { matchLabels: { app: "a" } };
  assertFalse(needs(have(app), want(app)));
  assert(needs(have({ matchLabels: { app: "a", more: "b" } }), want(app)));
  assert(needs(have(app), want({})), "`{}` selects everything");
});

Deno.test("needsApply() leaves what others put into a map that we applied empty", () => {
  const owned = { "f:metadata": { "f:annotations": {} } };
  const have = live("ConfigMap", {}, owned, { annotations: { theirs: "x" } });
  assertFalse(needs(have, wanted("ConfigMap", {}, { annotations: {} })));
});

Deno.test("needsApply() takes an empty list for applied that the server notes no owner for", () => {
  const have = live("ConfigMap", { data: { a: "1" } }, A_OWNED);
  assertFalse(needs(have, wanted("ConfigMap", { data: { a: "1" } }, { finalizers: [] })));
});

Deno.test("needsApply() is true when another writer has replaced an atomic value, even by more", () => {
  const peer = { podSelector: { matchLabels: { app: "envoy" } } };
  const loosened = { ...peer, namespaceSelector: { matchLabels: { open: "yes" } } };
  const spec = (from: Fields) => ({ spec: { podSelector: {}, ingress: [{ from: [from] }] } });
  // Their update took the list from us.
  const have = live("NetworkPolicy", spec(loosened), { "f:spec": { "f:podSelector": {} } });
  assert(needs(have, wanted("NetworkPolicy", spec(peer))));
  const selected = { spec: { selector: { app: "a", more: "b" }, type: "ClusterIP" } };
  const selector = live("Service", selected, { "f:spec": { "f:type": {} } });
  const want = { selector: { app: "a" }, type: "ClusterIP" };
  assert(needs(selector, wanted("Service", { spec: want })));
});

Deno.test("needsApply() takes an empty value that the server has dropped for applied", () => {
  const owned = { "f:spec": { "f:hostNetwork": {}, "f:nodeSelector": {}, "f:tolerations": {} } };
  const want = wanted("Pod", { spec: { hostNetwork: false, nodeSelector: {}, tolerations: [] } });
  assertFalse(needs(live("Pod", { spec: {} }, owned), want));
  assert(
    needs(live("Pod", { spec: {} }, { "f:spec": { "f:x": {} } }), want),
    "never applied by us",
  );
  assertFalse(needs(wanted("Pod", { spec: {} }), want), "no managedFields: Go's omitempty");
  const allNamespaces = wanted("X", {
    spec: { peers: [{ podSelector: {}, namespaceSelector: {} }] },
  });
  const own = live("X", { spec: { peers: [{ podSelector: {} }] } }, {
    "f:spec": { "f:peers": {} },
  });
  assert(
    needs(own, allNamespaces),
    "an empty struct is kept by the server, so that it means something",
  );
});

Deno.test("needsApply() takes null for not wanted", () => {
  const have = live("ConfigMap", { data: { a: "1" } }, A_OWNED);
  assertFalse(needs(have, wanted("ConfigMap", { data: { a: "1", b: null } })));
  assert(needs(have, wanted("ConfigMap", { data: { a: null } })));
});
