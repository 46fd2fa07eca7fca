/**
 * What the API server adds to built-in kinds: Service addresses, Secret data
 * from stringData, and the defaults that a controller sees come back.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import {
  asObject,
  clone,
  fallback,
  fields,
  isMap,
  type Json,
  type JsonMap,
  mapAt,
  mapsIn,
} from "./json.ts";
import { type ServedType, typeId } from "./types.ts";
import { workloadDefaults } from "./workload_defaults.ts";

/** Standard base64 of a text's UTF-8. */
export function base64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Maps of built-in kinds with free names; empty structures stay, empty maps do not. */
const FREE_MAPS = new Set([
  "annotations",
  "binaryData",
  "data",
  "labels",
  "limits",
  "matchLabels",
  "nodeSelector",
  "requests",
]);

/** Removes what the real server does not write out when it is empty. */
function dropEmpty(value: Json): void {
  if (Array.isArray(value)) return value.forEach(dropEmpty);
  if (!isMap(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const omitted = Array.isArray(member) || (FREE_MAPS.has(name) && isMap(member));
    if (omitted && Object.keys(member as object).length === 0) delete value[name];
    else dropEmpty(member);
  }
}

function secretDefaults(secret: JsonMap): void {
  fallback(secret, { type: "Opaque" });
  const texts = mapAt(secret, "stringData");
  delete secret["stringData"];
  if (!texts) return;
  const encoded = Object.entries(texts).map(([key, text]) => [key, base64(String(text))]);
  secret["data"] = { ...mapAt(secret, "data"), ...Object.fromEntries(encoded) };
}

function serviceDefaults(service: JsonMap): void {
  const spec = mapAt(service, "spec") ?? {};
  service["spec"] = spec;
  fallback(spec, { type: "ClusterIP", sessionAffinity: "None" });
  for (const port of mapsIn(spec["ports"])) {
    fallback(port, { protocol: "TCP", targetPort: port["port"] ?? 0 });
  }
  if (spec["type"] === "ExternalName") return;
  fallback(spec, {
    internalTrafficPolicy: "Cluster",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
  });
  if (spec["type"] !== "ClusterIP") {
    fallback(spec, { externalTrafficPolicy: "Cluster" });
    if (spec["type"] === "LoadBalancer") fallback(spec, { allocateLoadBalancerNodePorts: true });
  }
}

function namespaceDefaults(namespace: JsonMap): void {
  const metadata = mapAt(namespace, "metadata") ?? {};
  const labels = mapAt(metadata, "labels") ?? {};
  metadata["labels"] = { ...labels, "kubernetes.io/metadata.name": metadata["name"] ?? "" };
  const spec = mapAt(namespace, "spec") ?? {};
  namespace["spec"] = spec;
  fallback(spec, { finalizers: ["kubernetes"] });
}

function policyDefaults(policy: JsonMap): void {
  const spec = mapAt(policy, "spec");
  if (!spec) return;
  fallback(spec, { policyTypes: spec["egress"] ? ["Ingress", "Egress"] : ["Ingress"] });
  for (const rule of [...mapsIn(spec["ingress"]), ...mapsIn(spec["egress"])]) {
    for (const port of mapsIn(rule["ports"])) fallback(port, { protocol: "TCP" });
  }
}

/** Lists without which these kinds are not written out are null when they are empty. */
function nullWhenEmpty(object: JsonMap, ...names: string[]): void {
  for (const name of names) {
    const list = object[name];
    if (list === undefined || (Array.isArray(list) && list.length === 0)) object[name] = null;
  }
}

function sliceDefaults(slice: JsonMap): void {
  nullWhenEmpty(slice, "endpoints", "ports");
  for (const port of mapsIn(slice["ports"])) fallback(port, { name: "", protocol: "TCP" });
  for (const endpoint of mapsIn(slice["endpoints"])) fallback(endpoint, { conditions: {} });
}

const DEFAULTS: Readonly<Record<string, (object: JsonMap) => void>> = {
  secrets: secretDefaults,
  "networkpolicies.networking.k8s.io": policyDefaults,
  "endpointslices.discovery.k8s.io": sliceDefaults,
  "roles.rbac.authorization.k8s.io": (role) => nullWhenEmpty(role, "rules"),
  "clusterroles.rbac.authorization.k8s.io": (role) => nullWhenEmpty(role, "rules"),
  services: serviceDefaults,
  namespaces: namespaceDefaults,
  "statefulsets.apps": workloadDefaults,
  "deployments.apps": workloadDefaults,
  pods: workloadDefaults,
};

/** What a new object's status is, where the server sets it. */
const FIRST_STATUS: Readonly<Record<string, JsonMap>> = {
  namespaces: { phase: "Active" },
  pods: { phase: "Pending", qosClass: "BestEffort" },
  services: { loadBalancer: {} },
  "statefulsets.apps": { availableReplicas: 0, replicas: 0 },
  "deployments.apps": {},
  "poddisruptionbudgets.policy": {
    currentHealthy: 0,
    desiredHealthy: 0,
    disruptionsAllowed: 0,
    expectedPods: 0,
  },
};

/** The object with the server's defaults; the argument stays as it is. */
export function builtinDefaults(type: ServedType, object: KubeObject): KubeObject {
  const copy = clone(fields(object));
  dropEmpty(copy);
  DEFAULTS[typeId(type)]?.(copy);
  const status = FIRST_STATUS[typeId(type)];
  if (status) fallback(copy, { status });
  return asObject(copy);
}
