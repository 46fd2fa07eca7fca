/**
 * What every write goes through before it is stored: fields that only the
 * server sets, the split between object and status, defaults, validation,
 * and the generation.
 *
 * @module
 */
import { apiVersionOf, type KubeObject, type ObjectMeta } from "../../core/object.ts";
import { builtinDefaults } from "./builtin_defaults.ts";
import { builtinErrors } from "./builtin_validation.ts";
import type { ClusterIpAllocator } from "./cluster_ip.ts";
import { invalid } from "./errors.ts";
import { gatewayApiDefaults } from "./gateway_defaults.ts";
import {
  asObject,
  clone,
  equal,
  fields,
  type JsonMap,
  nullPaths,
  setMember,
  withoutNulls,
} from "./json.ts";
import { metadataErrors, nameErrors } from "./names.ts";
import { hasStatus, type ServedType } from "./types.ts";

/** What the owner of the server adds to the rules of objects. */
export interface Hooks {
  /** What is wrong with an object, each `<field>: <message>`; answered as 422. */
  readonly validate?: ((object: KubeObject) => readonly string[]) | undefined;
  /** The object with the defaults of its schema. */
  readonly defaults?: ((object: KubeObject) => KubeObject) | undefined;
}

/** A write: of what kind, and of which part. */
export interface Target {
  readonly type: ServedType;
  readonly subresource?: "status" | undefined;
}

/** Checks and completes objects. */
export class Preparer {
  readonly #hooks: Hooks;
  readonly #addresses: ClusterIpAllocator;

  constructor(hooks: Hooks, addresses: ClusterIpAllocator) {
    this.#hooks = hooks;
    this.#addresses = addresses;
  }

  /** A new object as it will be stored; metadata is complete already. */
  create(object: KubeObject, { type }: Target): KubeObject {
    const { status: _status, ...rest } = fields(object);
    const base = hasStatus(type) ? rest : fields(object);
    const next = this.#complete(asObject(base), type, undefined);
    if (type.generation ?? true) next.metadata.generation = 1;
    return next;
  }

  /** The live object with a write's changes, as it will be stored. */
  update(live: KubeObject, wanted: KubeObject, target: Target): KubeObject {
    const { type } = target;
    const split = { ...combined(live, wanted, target), metadata: metadataOf(live, wanted, target) };
    const next = this.#complete(asObject(split as unknown as JsonMap), type, live);
    const newFinalizers = addedFinalizers(live, next);
    if (live.metadata.deletionTimestamp && newFinalizers.length > 0) {
      throw invalid(type, live.metadata.name, [
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being " +
        `deleted, found new finalizers ${JSON.stringify(newFinalizers)}`,
      ]);
    }
    const generation = live.metadata.generation;
    if (generation !== undefined) {
      next.metadata.generation = generation + (specChanged(type, live, next) ? 1 : 0);
    }
    return next;
  }

  #complete(object: KubeObject, type: ServedType, live: KubeObject | undefined): KubeObject {
    if (!type.builtin) refuseNulls(object, type);
    const bare = asObject(withoutNulls(fields(object)) as JsonMap);
    bare.apiVersion = apiVersionOf(type);
    withoutEmptyMetadata(bare.metadata);
    const known = type.builtin ? builtinDefaults(type, bare) : gatewayApiDefaults(type, bare);
    const completed = type.builtin ? known : this.#hooks.defaults?.(clone(known)) ?? known;
    const next = type.kind === "Service" && type.group === ""
      ? this.#addresses.assign(type, completed, live)
      : completed;
    this.#validate(type, next, live);
    return clone(next);
  }

  #validate(type: ServedType, object: KubeObject, live: KubeObject | undefined): void {
    const errors = [
      ...(live ? [] : nameErrors(type, object.metadata.name)),
      ...metadataErrors(object),
      ...(type.builtin ? builtinErrors(type, object, live) : []),
      ...(this.#hooks.validate?.(clone(object)) ?? []),
    ];
    if (errors.length > 0) throw invalid(type, object.metadata.name, errors);
  }
}

/** @throws {ApiError} 422: no schema that is served here has a nullable field. */
function refuseNulls(object: KubeObject, type: ServedType): void {
  const { metadata: _, ...rest } = fields(object);
  const errors = nullPaths(rest).map((path) =>
    `${path}: Invalid value: "null": ${path} in body must be of type object: "null"`
  );
  if (errors.length > 0) throw invalid(type, object.metadata.name, errors);
}

/** Status from the one, all else from the other. */
function combined(live: KubeObject, wanted: KubeObject, target: Target): JsonMap {
  if (!hasStatus(target.type)) return { ...fields(wanted) };
  const [main, status] = target.subresource === "status" ? [live, wanted] : [wanted, live];
  const result: JsonMap = { ...fields(main) };
  delete result["status"];
  const value = fields(status)["status"];
  if (value !== undefined) setMember(result, "status", value);
  return result;
}

/** What only the server sets comes from the live object. */
function metadataOf(
  live: KubeObject,
  wanted: KubeObject,
  { type, subresource }: Target,
): ObjectMeta {
  // The status of a kind with a CRD takes no metadata; that of a built-in kind does.
  if (subresource === "status" && !type.builtin) return { ...live.metadata };
  const server = fields(live)["metadata"] as JsonMap;
  const result: JsonMap = { ...(fields(wanted)["metadata"] as JsonMap) };
  for (const name of SERVER_FIELDS) {
    const value = server[name];
    if (value === undefined) delete result[name];
    else result[name] = value;
  }
  return result as unknown as ObjectMeta;
}

const SERVER_FIELDS = [
  "name",
  "namespace",
  "generateName",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "resourceVersion",
  "selfLink",
];

/** Metadata without the empty maps and lists that the real server leaves out. */
function withoutEmptyMetadata(metadata: ObjectMeta): void {
  for (const name of ["labels", "annotations", "finalizers", "ownerReferences"] as const) {
    const value = metadata[name];
    if (value && Object.keys(value).length === 0) delete metadata[name];
  }
}

function addedFinalizers(live: KubeObject, next: KubeObject): string[] {
  const had = live.metadata.finalizers ?? [];
  return (next.metadata.finalizers ?? []).filter((finalizer) => !had.includes(finalizer));
}

/** Has anything changed but metadata, and status where that has its own resource? */
function specChanged(type: ServedType, live: KubeObject, next: KubeObject): boolean {
  const spec = (object: KubeObject) => {
    const { metadata: _m, status, ...rest } = fields(object);
    return hasStatus(type) || status === undefined ? rest : { ...rest, status };
  };
  return !equal(spec(live), spec(next));
}
