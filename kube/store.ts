/**
 * The objects of one kind as last seen, with indexes.
 *
 * @module
 */
import { keyOf, type KubeObject } from "../core/object.ts";
import { compareResourceVersions, isOlder } from "./resource_version.ts";

/** What happened to one object. */
export interface Change<T> {
  type: "added" | "modified" | "deleted";
  /** The object now; for `deleted` its last state. */
  object: T;
  /** The object before, for `modified`. */
  old?: T;
}

/** The reading side of a {@linkcode Store}. All lists are in the order of their keys. */
export interface ReadonlyStore<T extends KubeObject> {
  /** By `namespace/name`, or `name` for cluster-scoped kinds. */
  get(key: string): T | undefined;
  list(namespace?: string): readonly T[];
  /** @throws {TypeError} when there is no such index */
  byIndex(index: string, value: string): readonly T[];
  readonly size: number;
}

/** Settings of {@linkcode Store}. */
export interface StoreOptions<T> {
  /** For each index, the values under which an object is found. */
  indexes?: Record<string, (object: T) => readonly string[]>;
}

/** Settings of {@linkcode Store.replace}. */
export interface ReplaceOptions {
  /** The version of the list. */
  resourceVersion?: string;
  /** {@linkcode Store.mark} when the list began: what came in since and is newer than the list stays. */
  since?: number;
}

interface Entry<T> {
  readonly object: T;
  /** When it came in, as a count of writes to the store. */
  readonly at: number;
}

type Index<T> = Map<string, Map<string, T>>;

const NAMESPACE = "metadata.namespace";
const MAX_TOMBSTONES = 1024;

/**
 * Objects by key. Old news never replaces newer news, so that a write's response can
 * be put in at once, before the watch tells of it.
 */
export class Store<T extends KubeObject> implements ReadonlyStore<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexers: ReadonlyMap<string, (object: T) => readonly string[]>;
  readonly #indexes = new Map<string, Index<T>>();
  /** Versions of recent deletions, lest a write's late response bring a deleted object back. */
  #tombstones = new Map<string, string>();
  #sorted: readonly T[] | undefined;
  #writes = 0;

  constructor(options: StoreOptions<T> = {}) {
    this.#indexers = new Map([
      ...Object.entries(options.indexes ?? {}),
      [NAMESPACE, (object: T) => object.metadata.namespace ? [object.metadata.namespace] : []],
    ]);
    for (const name of this.#indexers.keys()) this.#indexes.set(name, new Map());
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.object;
  }

  list(namespace?: string): readonly T[] {
    if (namespace !== undefined) return this.byIndex(NAMESPACE, namespace);
    return this.#sorted ??= inOrder(this.#entries, ({ object }) => object);
  }

  byIndex(index: string, value: string): readonly T[] {
    const values = this.#indexes.get(index);
    if (!values) throw new TypeError(`the store has no index "${index}"`);
    const found = values.get(value);
    return found ? inOrder(found, (object) => object) : [];
  }

  /** A point in the store's history, for {@linkcode ReplaceOptions.since}. */
  mark(): number {
    return this.#writes;
  }

  /** Puts an object in; undefined when it is no news: of an equal or older resourceVersion. */
  upsert(object: T): Change<T> | undefined {
    const key = keyOf(object);
    const version = object.metadata.resourceVersion;
    const old = this.#entries.get(key)?.object;
    const known = old ? old.metadata.resourceVersion : this.#tombstones.get(key);
    if ((compareResourceVersions(version, known) ?? 1) <= 0) return undefined;
    this.#tombstones.delete(key);
    return this.#put(key, object, old);
  }

  /** Takes an object out; undefined when it is not there, or was made anew since. */
  remove(object: T): Change<T> | undefined {
    const key = keyOf(object);
    const old = this.#entries.get(key)?.object;
    const version = object.metadata.resourceVersion;
    if (old && isOlder(version, old.metadata.resourceVersion)) return undefined;
    this.#bury(key, version);
    return old && this.#take(key, object, old);
  }

  /** Makes the store's content that of a list; objects that are not in it are deleted. */
  replace(objects: readonly T[], options: ReplaceOptions = {}): Change<T>[] {
    const { resourceVersion, since = Infinity } = options;
    const changes: Change<T>[] = [];
    const listed = new Set<string>();
    const survives = (key: string, than: string | undefined) => {
      const entry = this.#entries.get(key);
      return entry !== undefined && entry.at > since &&
        isOlder(than, entry.object.metadata.resourceVersion);
    };
    // The list is the truth from here on, also after etcd was restored to an older state.
    this.#tombstones = new Map();
    for (const object of objects) {
      const key = keyOf(object);
      listed.add(key);
      const old = this.#entries.get(key)?.object;
      if (old && old.metadata.resourceVersion === object.metadata.resourceVersion) continue;
      if (!survives(key, object.metadata.resourceVersion)) {
        changes.push(this.#put(key, object, old));
      }
    }
    for (const [key, { object }] of [...this.#entries]) {
      if (listed.has(key) || survives(key, resourceVersion)) continue;
      this.#bury(key, resourceVersion);
      changes.push(this.#take(key, object, object));
    }
    return changes;
  }

  #put(key: string, object: T, old: T | undefined): Change<T> {
    if (old) this.#unindex(key, old);
    this.#entries.set(key, { object, at: ++this.#writes });
    this.#index(key, object);
    this.#sorted = undefined;
    return old ? { type: "modified", object, old } : { type: "added", object };
  }

  #take(key: string, object: T, old: T): Change<T> {
    this.#unindex(key, old);
    this.#entries.delete(key);
    this.#writes++;
    this.#sorted = undefined;
    return { type: "deleted", object };
  }

  #bury(key: string, version: string | undefined): void {
    if (version === undefined || isOlder(version, this.#tombstones.get(key))) return;
    this.#tombstones.delete(key);
    this.#tombstones.set(key, version);
    if (this.#tombstones.size <= MAX_TOMBSTONES) return;
    const oldest = this.#tombstones.keys().next().value;
    if (oldest !== undefined) this.#tombstones.delete(oldest);
  }

  #index(key: string, object: T): void {
    for (const [name, valuesOf] of this.#indexers) {
      const index = this.#indexes.get(name)!;
      for (const value of valuesOf(object)) {
        const found = index.get(value);
        if (found) found.set(key, object);
        else index.set(value, new Map([[key, object]]));
      }
    }
  }

  #unindex(key: string, object: T): void {
    for (const [name, valuesOf] of this.#indexers) {
      const index = this.#indexes.get(name)!;
      for (const value of valuesOf(object)) {
        const found = index.get(value);
        found?.delete(key);
        if (found?.size === 0) index.delete(value);
      }
    }
  }
}

/** Values in the order of their keys, so that equal worlds give equal lists. */
function inOrder<V, T>(map: ReadonlyMap<string, V>, pick: (value: V) => T): readonly T[] {
  const keys = [...map.keys()].sort();
  return keys.map((key) => pick(map.get(key)!));
}
