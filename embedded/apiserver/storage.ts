/**
 * Objects in memory, with one resourceVersion for all kinds and a log of
 * changes that watches resume from.
 *
 * @module
 */
import { keyOf, type KubeObject } from "../../core/object.ts";
import { expired } from "./errors.ts";
import { deepFreeze } from "./json.ts";
import { type ServedType, storeId } from "./types.ts";

/** One change of one object. A creation has no `before`; a deletion no `after`. */
export interface Change {
  readonly rv: number;
  readonly type: ServedType;
  readonly before?: KubeObject;
  readonly after?: KubeObject;
}

/** An object and what kind it is of. */
export interface Stored {
  readonly type: ServedType;
  readonly object: KubeObject;
}

/** Remembers objects and their recent changes. What it holds and gives is frozen. */
export class Storage {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #byUid = new Map<string, Stored>();
  /** Uid of an owner → uids of the objects that name it as owner. */
  readonly #dependents = new Map<string, Set<string>>();
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #historyLimit: number;
  #log: Change[] = [];
  #rv = 0;
  #compacted = 0;

  /** @param historyLimit how many changes are remembered. */
  constructor(historyLimit: number = 10_000) {
    this.#historyLimit = historyLimit;
  }

  /** The resourceVersion of the latest change. */
  get rv(): number {
    return this.#rv;
  }

  get(type: ServedType, key: string): KubeObject | undefined {
    return this.#objects.get(storeId(type))?.get(key);
  }

  byUid(uid: string): Stored | undefined {
    return this.#byUid.get(uid);
  }

  /** The objects of a kind, of one namespace or all, in the order of their keys. */
  list(type: ServedType, namespace?: string): KubeObject[] {
    const all = [...(this.#objects.get(storeId(type))?.values() ?? [])];
    return sorted(all).filter((o) => !namespace || o.metadata.namespace === namespace);
  }

  /** Every object that is in a namespace. */
  inNamespace(namespace: string): Stored[] {
    return [...this.#byUid.values()].filter((s) => s.object.metadata.namespace === namespace);
  }

  /** The objects that name this uid as an owner. */
  dependentsOf(uid: string): Stored[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap((id) => this.#byUid.get(id) ?? []);
  }

  /** Stores the object under a new resourceVersion and returns it as stored. */
  put(type: ServedType, object: KubeObject): KubeObject {
    const rv = ++this.#rv;
    const metadata = { ...object.metadata, resourceVersion: String(rv) };
    const after = deepFreeze({ ...object, metadata });
    const objects = this.#ofType(type);
    const before = objects.get(keyOf(after));
    objects.set(keyOf(after), after);
    this.#index(type, before, after);
    this.#record({ rv, type, after, ...(before ? { before } : {}) });
    return after;
  }

  /** Removes the object; returns it with the resourceVersion of its deletion. */
  remove(type: ServedType, object: KubeObject): KubeObject {
    const before = this.#ofType(type).get(keyOf(object));
    if (!before) return object;
    const rv = ++this.#rv;
    this.#ofType(type).delete(keyOf(object));
    this.#index(type, before, undefined);
    this.#record({ rv, type, before });
    return withVersion(before, rv);
  }

  /**
   * The changes of a kind after a resourceVersion.
   *
   * @throws {ApiError} 410 when some of them are forgotten.
   */
  since(type: ServedType, rv: number): Change[] {
    if (rv < this.#compacted) {
      throw expired(`too old resource version: ${rv} (${this.#compacted})`);
    }
    const id = storeId(type);
    return this.#log.filter((change) => change.rv > rv && storeId(change.type) === id);
  }

  /**
   * {@linkcode Storage.list} as it was at a resourceVersion.
   *
   * @throws {ApiError} 410 when that is forgotten.
   */
  listAt(type: ServedType, rv: number): KubeObject[] {
    const objects = new Map(this.#objects.get(storeId(type)));
    for (const { before, after } of this.since(type, rv).reverse()) {
      if (before) objects.set(keyOf(before), before);
      else if (after) objects.delete(keyOf(after));
    }
    return sorted([...objects.values()]);
  }

  /** Forgets all changes until now: older resourceVersions are answered with 410. */
  compact(): void {
    this.#compacted = this.#rv;
    this.#log = [];
  }

  /** Calls `listener` for each change to come, until the returned function is called. */
  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #ofType(type: ServedType): Map<string, KubeObject> {
    const id = storeId(type);
    const known = this.#objects.get(id);
    if (known) return known;
    const fresh = new Map<string, KubeObject>();
    this.#objects.set(id, fresh);
    return fresh;
  }

  #index(type: ServedType, before: KubeObject | undefined, after: KubeObject | undefined): void {
    for (const owner of before?.metadata.ownerReferences ?? []) {
      this.#dependents.get(owner.uid)?.delete(before?.metadata.uid ?? "");
      if (this.#dependents.get(owner.uid)?.size === 0) this.#dependents.delete(owner.uid);
    }
    if (before?.metadata.uid) this.#byUid.delete(before.metadata.uid);
    const uid = after?.metadata.uid;
    if (!after || !uid) return;
    this.#byUid.set(uid, { type, object: after });
    for (const owner of after.metadata.ownerReferences ?? []) {
      const uids = this.#dependents.get(owner.uid) ?? new Set();
      this.#dependents.set(owner.uid, uids.add(uid));
    }
  }

  #record(change: Change): void {
    this.#log.push(change);
    // Twice the limit before trimming, so that the copying is amortised.
    if (this.#log.length >= 2 * this.#historyLimit) {
      const dropped = this.#log.length - this.#historyLimit;
      this.#compacted = this.#log[dropped - 1]?.rv ?? this.#compacted;
      this.#log = this.#log.slice(dropped);
    }
    for (const listener of this.#listeners) listener(change);
  }
}

/** A copy that carries another resourceVersion, as deletions do. */
export function withVersion(object: KubeObject, rv: number): KubeObject {
  return deepFreeze({
    ...object,
    metadata: { ...object.metadata, resourceVersion: String(rv) },
  });
}

function sorted(objects: KubeObject[]): KubeObject[] {
  const keyed = objects.map((object) => ({ key: keyOf(object), object }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ object }) => object);
}
