/**
 * Create, update, patch and apply.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { apiVersionOf, type KubeObject, type ManagedFieldsEntry } from "../../core/object.ts";
import { serverSideApply } from "./apply.ts";
import { timestamp } from "./clock.ts";
import { isDeleting } from "./deletion.ts";
import {
  alreadyExists,
  ApiError,
  badRequest,
  conflict,
  forbidden,
  invalid,
  modified,
  notFound,
} from "./errors.ts";
import { asObject, clone, equal, fields, type JsonMap, mapAt, withoutNulls } from "./json.ts";
import { inFormOf } from "./event_forms.ts";
import { FieldRules } from "./list_rules.ts";
import {
  comparable,
  type Owners,
  ownersAfterUpdate,
  toEntries,
  type Writer,
} from "./managed_fields.ts";
import type { Preparer } from "./prepare.ts";
import type { Storage } from "./storage.ts";
import { hasStatus, type ServedType, type TypeRegistry } from "./types.ts";

/** What a write is aimed at, and by whom. */
export interface WriteContext {
  readonly type: ServedType;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly subresource?: "status" | undefined;
  readonly writer: Writer;
  readonly dryRun: boolean;
}

/** A stored object, and whether the write made it. */
export interface Written {
  readonly object: KubeObject;
  readonly created: boolean;
}

/** What the writes work on. */
export interface WriterParts {
  readonly storage: Storage;
  readonly types: TypeRegistry;
  readonly preparer: Preparer;
  readonly clock: Clock;
}

/** Performs writes of single objects. */
export class ObjectWriter {
  readonly #parts: WriterParts;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  create(body: JsonMap, context: WriteContext): KubeObject {
    const { type, writer } = context;
    const object = this.#newObject(body, context);
    if (object.metadata.resourceVersion) {
      throw new ApiError(500, "", "resourceVersion should not be set on objects to be created");
    }
    const prepared = this.#parts.preparer.create(this.#stamp(object), context);
    this.#checkPlace(prepared, type);
    const rules = new FieldRules(type);
    const owners = ownersAfterUpdate({ live: undefined, next: prepared, writer, rules });
    return this.#insert(prepared, owners, context);
  }

  /** Replaces the object (PUT). */
  update(body: JsonMap, context: WriteContext): KubeObject {
    const { type } = context;
    const wanted = this.#checkedBody(body, context);
    const live = this.live(context);
    const unconditional = !wanted.metadata.resourceVersion;
    if (unconditional && (!type.builtin || type.kind === "Lease")) {
      throw invalid({ ...type, kind: type.plural }, context.name, [
        "metadata.resourceVersion: Invalid value: 0: must be specified for an update",
      ]);
    }
    return this.#change(live, wanted, context);
  }

  /** Changes the object by a function of it (merge patch and JSON patch). */
  patch(change: (live: JsonMap) => JsonMap, context: WriteContext): KubeObject {
    const live = this.live(context);
    const patched = this.#checkedBody(change(clone(fields(live))), context);
    return this.#change(live, patched, context);
  }

  /** Server-side apply; makes the object when it is not there. */
  apply(body: JsonMap, context: WriteContext & { force: boolean }): Written {
    const { type, writer, force } = context;
    const config = this.#checkedBody(withoutServerNulls(body, type), context);
    if (config.metadata.managedFields) throw badRequest("metadata.managedFields must be nil");
    const live = this.#find(context);
    if (!live && context.subresource) throw notFound(type, context.name);
    if (live) checkIdentity(type, live, config);
    else if (config.metadata.uid) {
      const why = "uid mismatch: the provided object specified uid " +
        `${config.metadata.uid}, and no existing object was found`;
      throw conflict(type, context.name, why);
    }
    const rules = new FieldRules(type);
    const own = ownPart(config, context);
    const { object, owners } = serverSideApply({ live, config: own, writer, force, rules });
    if (live) return { object: this.#store(live, object, { owners, context }), created: false };
    const prepared = this.#parts.preparer.create(this.#stamp(object), context);
    this.#checkPlace(prepared, type);
    return { object: this.#insert(prepared, owners, context), created: true };
  }

  /** @throws {ApiError} 404 */
  live(context: Pick<WriteContext, "type" | "namespace" | "name">): KubeObject {
    const live = this.#find(context);
    if (!live) throw notFound(context.type, context.name);
    return live;
  }

  #find({ type, namespace, name }: Pick<WriteContext, "type" | "namespace" | "name">) {
    const stored = this.#parts.storage.get(type, namespace ? `${namespace}/${name}` : name);
    return stored && inFormOf(type, stored);
  }

  #change(live: KubeObject, wanted: KubeObject, context: WriteContext): KubeObject {
    const { type, writer } = context;
    checkIdentity(type, live, wanted);
    const next = this.#parts.preparer.update(live, wanted, context);
    const given = wanted.metadata.managedFields;
    const rules = new FieldRules(type);
    const from = given?.length && !context.subresource ? withEntries(live, given) : live;
    const owners = ownersAfterUpdate({ live: from, next, writer, rules });
    return this.#commit(live, withEntries(next, toEntries(owners)), context);
  }

  #store(
    live: KubeObject,
    wanted: KubeObject,
    { owners, context }: { owners: Owners; context: WriteContext },
  ): KubeObject {
    const next = this.#parts.preparer.update(live, wanted, context);
    return this.#commit(live, withEntries(next, toEntries(owners)), context);
  }

  /** Stores what differs from the live object in more than the times of managers. */
  #commit(live: KubeObject, next: KubeObject, { type, dryRun }: WriteContext): KubeObject {
    const same = equal(comparable(live), comparable(next)) &&
      equal(untimed(live), untimed(next)) && live.metadata.generation === next.metadata.generation;
    if (same) return live;
    const ends = isDeleting(live) && !next.metadata.finalizers?.length &&
      live.metadata.finalizers?.length && type.kind !== "Namespace";
    if (dryRun) return next;
    if (!ends) return this.#parts.storage.put(type, next);
    // The last finalizer is gone: the object goes without a change that shows it so.
    this.#parts.storage.remove(type, live);
    return next;
  }

  #insert(prepared: KubeObject, owners: Owners, { type, dryRun }: WriteContext): KubeObject {
    const { namespace, name } = prepared.metadata;
    if (this.#find({ type, namespace, name })) throw alreadyExists(type, name);
    const object = withEntries(prepared, toEntries(owners));
    return dryRun ? object : this.#parts.storage.put(type, object);
  }

  #newObject(body: JsonMap, context: WriteContext): KubeObject {
    const metadata = mapAt(body, "metadata") ?? {};
    const prefix = metadata["generateName"];
    const name = metadata["name"] || (typeof prefix === "string" ? prefix + randomSuffix() : "");
    const named = { ...body, metadata: { ...metadata, name } };
    return this.#checkedBody(named, { ...context, name: String(name) });
  }

  /** The body, with apiVersion, kind, name and namespace as the URL says. */
  #checkedBody(body: JsonMap, { type, namespace, name, writer }: WriteContext): KubeObject {
    const metadata = mapAt(body, "metadata") ?? {};
    const kind = body["kind"] ?? type.kind;
    const apiVersion = body["apiVersion"] ?? writer.apiVersion;
    const isStored = apiVersion === apiVersionOf(type);
    if (!type.builtin && kind === type.kind && apiVersion !== writer.apiVersion && !isStored) {
      throw badRequest(
        `the API version in the data (${apiVersion}) does not match the expected API version ` +
          `(${writer.apiVersion})`,
      );
    }
    if (kind !== type.kind || (apiVersion !== writer.apiVersion && !isStored)) {
      throw badRequest(
        `${kind} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${type.kind}`,
      );
    }
    if ((metadata["name"] ?? name) !== name) {
      throw badRequest(
        `the name of the object (${metadata["name"]}) does not match the name on the URL (${name})`,
      );
    }
    if ((metadata["namespace"] || namespace) !== namespace) {
      throw badRequest(
        "the namespace of the provided object does not match the namespace sent on the request",
      );
    }
    const { namespace: _n, ...rest } = metadata;
    const placed = { ...rest, name, ...(namespace ? { namespace } : {}) };
    return asObject({ ...body, apiVersion: apiVersionOf(type), kind: type.kind, metadata: placed });
  }

  #stamp(object: KubeObject): KubeObject {
    const { generation: _g, managedFields: _m, deletionTimestamp: _d, ...metadata } =
      object.metadata;
    const creationTimestamp = timestamp(this.#parts.clock.now());
    return {
      ...object,
      metadata: { ...metadata, uid: crypto.randomUUID(), creationTimestamp },
    };
  }

  #checkPlace(object: KubeObject, type: ServedType): void {
    const { storage, types } = this.#parts;
    const namespaces = types.byPath("", "v1", "namespaces");
    const { namespace, name } = object.metadata;
    if (!type.namespaced || !namespaces || !namespace) return;
    const live = storage.get(namespaces, namespace);
    if (!live) throw notFound(namespaces, namespace);
    if (!isDeleting(live)) return;
    const message = `namespace ${namespace} is being terminated`;
    throw forbidden(type, name, {
      why: `unable to create new content in namespace ${namespace} because it is being terminated`,
      causes: [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }],
    });
  }
}

/** @throws {ApiError} 409 when uid or resourceVersion are given and are not the live ones. */
function checkIdentity(type: ServedType, live: KubeObject, wanted: KubeObject): void {
  const { name, uid, resourceVersion } = live.metadata;
  if (wanted.metadata.uid && wanted.metadata.uid !== uid) {
    const why = `UID in precondition: ${wanted.metadata.uid}, UID in object meta: ${uid}`;
    throw conflict(type, name, `Precondition failed: ${why}`);
  }
  const wantedVersion = wanted.metadata.resourceVersion;
  if (wantedVersion && wantedVersion !== resourceVersion) throw modified(type, name);
}

/** The part of an applied configuration that the resource takes: status or all else. */
function ownPart(config: KubeObject, { type, subresource }: WriteContext): JsonMap {
  const { resourceVersion: _r, uid: _u, ...metadata } = fields(config)["metadata"] as JsonMap;
  const { status, ...main } = fields(config);
  if (!hasStatus(type)) return { ...fields(config), metadata };
  if (subresource !== "status") return { ...main, metadata };
  const { apiVersion, kind } = config;
  const { name, namespace } = config.metadata;
  const bare = { name, ...(namespace ? { namespace } : {}) };
  return {
    apiVersion,
    kind,
    metadata: type.builtin ? metadata : bare,
    ...(status === undefined ? {} : { status }),
  };
}

function withEntries(object: KubeObject, entries: ManagedFieldsEntry[]): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  const managedFields = entries.filter((entry) => entry.manager !== undefined);
  return {
    ...object,
    metadata: managedFields.length > 0 ? { ...metadata, managedFields } : metadata,
  };
}

/** A configuration without nulls; those of custom kinds stay, to be refused. */
function withoutServerNulls(body: JsonMap, type: ServedType): JsonMap {
  if (type.builtin) return withoutNulls(body) as JsonMap;
  return { ...body, metadata: withoutNulls(body["metadata"] ?? {}) };
}

function untimed(object: KubeObject): unknown {
  return (object.metadata.managedFields ?? []).map(({ time: _, ...entry }) => entry);
}

const SUFFIX = "bcdfghjklmnpqrstvwxz2456789";

/** Five characters, as the real server appends to generateName. */
function randomSuffix(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(5)), (b) => SUFFIX[b % SUFFIX.length])
    .join("");
}
