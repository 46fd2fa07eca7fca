/**
 * The shape that every Kubernetes object has in JSON, and how objects are named.
 *
 * @module
 */

/** An owner of an object, as in `metadata.ownerReferences`. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One field manager's share of an object (`metadata.managedFields`). */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

/** The parts of `metadata` that this project reads or writes. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any Kubernetes object. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A condition as `metav1.Condition` has it; times are RFC 3339 with seconds. */
export interface Condition {
  type: string;
  status: "True" | "False" | "Unknown";
  reason: string;
  message: string;
  lastTransitionTime: string;
  observedGeneration?: number;
}

/** What the API server calls a kind of object, and where it serves it. */
export interface ResourceType {
  /** API group; "" is the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural name in URLs, such as `statefulsets`. */
  readonly plural: string;
  readonly namespaced: boolean;
}

/** `apps/v1` for apps, `v1` for the core group. */
export function apiVersionOf(type: Pick<ResourceType, "group" | "version">): string {
  return type.group === "" ? type.version : `${type.group}/${type.version}`;
}

/**
 * The key of an object within its kind: `namespace/name`, or `name` for a
 * cluster-scoped one.
 *
 * @example
 * ```ts
 * import { keyOf } from "./object.ts";
 * keyOf({ metadata: { namespace: "apps", name: "web" } }); // "apps/web"
 * ```
 */
export function keyOf(object: { metadata: Pick<ObjectMeta, "name" | "namespace"> }): string {
  return objectKey(object.metadata.namespace, object.metadata.name);
}

/** {@linkcode keyOf} from its parts. */
export function objectKey(namespace: string | undefined, name: string): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The parts of a key; the inverse of {@linkcode objectKey}. */
export function splitKey(key: string): { namespace?: string; name: string } {
  const slash = key.indexOf("/");
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
