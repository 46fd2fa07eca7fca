/**
 * The few facts of the Kubernetes schemas that comparing objects needs. Where an object
 * has managedFields these say what kind of list a list is, and only the rest comes from here.
 *
 * Source: the `+listType`, `+listMapKey` and `+optional` marks of k8s.io/api and
 * sigs.k8s.io/gateway-api, as of Kubernetes 1.36 and Gateway API 1.4.
 *
 * @module
 */

import { isAbsent, sameJson } from "./json.ts";

/** Names of fields, from the object's root; items of lists add nothing. */
export type FieldPath = readonly string[];

/** Merge keys of lists of maps, by the last two names of their path. */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  "metadata.ownerReferences": ["uid"],
  "spec.containers": ["name"],
  "spec.initContainers": ["name"],
  "spec.ephemeralContainers": ["name"],
  "spec.volumes": ["name"],
  "spec.imagePullSecrets": ["name"],
  "spec.hostAliases": ["ip"],
  "spec.topologySpreadConstraints": ["topologyKey", "whenUnsatisfiable"],
  "spec.resourceClaims": ["name"],
  "spec.listeners": ["name"],
  "status.conditions": ["type"],
  ...forContainers({
    env: ["name"],
    ports: ["containerPort", "protocol"],
    volumeMounts: ["mountPath"],
    volumeDevices: ["devicePath"],
  }),
};

function forContainers(fields: Record<string, readonly string[]>) {
  const all: Record<string, readonly string[]> = {};
  for (const list of ["containers", "initContainers", "ephemeralContainers"]) {
    for (const [field, keys] of Object.entries(fields)) all[`${list}.${field}`] = keys;
  }
  return all;
}

/** Merge keys of lists that have them in one kind only. */
const MERGE_KEYS_OF_KIND: Readonly<Record<string, readonly string[]>> = {
  "Service spec.ports": ["port", "protocol"],
  "ServiceAccount ServiceAccount.secrets": ["name"],
};

/** Lists that are sets. */
const SETS: ReadonlySet<string> = new Set(["metadata.finalizers"]);

/** Values that merge keys have where an item does not say. */
const KEY_DEFAULTS: Readonly<Record<string, unknown>> = { protocol: "TCP", name: "" };

/** Fields that hold quantities. */
const QUANTITY_FIELDS: ReadonlySet<string> = new Set(["sizeLimit", "divisor", "averageValue"]);

/** Fields whose children are quantities. */
const QUANTITY_MAPS: ReadonlySet<string> = new Set([
  "limits",
  "requests",
  "hard",
  "capacity",
  "default",
  "defaultRequest",
  "min",
  "max",
  "podFixed",
]);

/** Fields that are maps, of which Kubernetes drops empty ones; an empty struct it keeps. */
const MAP_FIELDS: ReadonlySet<string> = new Set([
  "labels",
  "annotations",
  "matchLabels",
  "nodeSelector",
  "data",
  "binaryData",
  "limits",
  "requests",
]);

const ROOT_PATH = { type: "PathPrefix", value: "/" };

/**
 * What the API server fills in within atomic values, by the last name of the path or the last
 * two. Empty scalars and lists need no entry.
 */
const DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  protocol: ["TCP"],
  weight: [1],
  matches: [[{ path: ROOT_PATH }]],
  path: [ROOT_PATH],
  "path.type": ["PathPrefix"],
  "path.value": ["/"],
  "headers.type": ["Exact"],
  "queryParams.type": ["Exact"],
  "method.type": ["Exact"],
  "backendRefs.kind": ["Service"],
  "backendRef.kind": ["Service"],
  "parentRefs.kind": ["Gateway"],
  "parentRefs.group": ["gateway.networking.k8s.io"],
  "certificateRefs.kind": ["Secret"],
  "fieldRef.apiVersion": ["v1"],
  "resourceFieldRef.divisor": ["0"],
  "serviceAccountToken.expirationSeconds": [3600],
  "subjects.apiGroup": ["rbac.authorization.k8s.io"],
  "roleRef.apiGroup": ["rbac.authorization.k8s.io"],
  "endpoints.conditions": [{}],
  "volumeClaimTemplates.apiVersion": ["v1"],
  "volumeClaimTemplates.kind": ["PersistentVolumeClaim"],
  "volumeClaimTemplates.status": [{ phase: "Pending" }],
  "spec.volumeMode": ["Filesystem"],
};

/** Whether a value that we did not ask for is one that the API server fills in. */
export function isDefault(path: FieldPath, value: unknown): boolean {
  if (isAbsent(value) || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value) && value.length === 0) return true;
  const name = path.at(-1) ?? "";
  const known = DEFAULTS[`${path.at(-2)}.${name}`] ?? DEFAULTS[name] ?? [];
  return known.some((other) => sameJson(value, other));
}

/** Fields of type LabelSelector, or maps like it: atomic, and `{}` selects all. */
const SELECTORS: ReadonlySet<string> = new Set([
  "selector",
  "podSelector",
  "namespaceSelector",
  "labelSelector",
]);

/** Whether a selector lies here. */
export function isSelector(path: FieldPath): boolean {
  return SELECTORS.has(path.at(-1) ?? "");
}

/** How the items of a list are told apart; undefined for one that is a single value (atomic). */
export type ListKind = { readonly keys: readonly string[] } | "set" | undefined;

/** The well-known kind of a list. */
export function listKind(kind: string, path: FieldPath): ListKind {
  const place = `${path.at(-2) ?? kind}.${path.at(-1)}`;
  if (SETS.has(place)) return "set";
  const keys = MERGE_KEYS_OF_KIND[`${kind} ${place}`] ?? MERGE_KEYS[place];
  return keys && { keys };
}

/** The value of a merge key in an item. */
export function mergeKeyOf(item: Readonly<Record<string, unknown>>, key: string): unknown {
  return item[key] ?? KEY_DEFAULTS[key];
}

/** Whether a quantity lies here, which the API server rewrites to its canonical form. */
export function isQuantity(path: FieldPath): boolean {
  return QUANTITY_FIELDS.has(path.at(-1) ?? "") || QUANTITY_MAPS.has(path.at(-2) ?? "");
}

/** Whether the API server drops `{}` here. */
export function isMap(path: FieldPath): boolean {
  return MAP_FIELDS.has(path.at(-1) ?? "");
}
