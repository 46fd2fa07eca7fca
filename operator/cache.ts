/**
 * The cluster's objects in memory: a reflector and a store for every type that a
 * controller reads.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { Label, MANAGED_BY } from "../core/labels.ts";
import { keyOf, type KubeObject, type ResourceType } from "../core/object.ts";
import { SECRET } from "../api/resources.ts";
import { TYPES_MADE } from "../controllers/registry.ts";
import { indexesOf } from "../controllers/indexes.ts";
import type { ObjectReader } from "../controllers/world.ts";
import type { KubeClient } from "../kube/client.ts";
import { Reflector } from "../kube/reflector.ts";
import { type Change, Store } from "../kube/store.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { SecretWatches } from "./secret_watches.ts";
import { trimmer } from "./trim.ts";

/** Told of every change of a type's objects. */
export type ChangeListener = (type: ResourceType, change: Change<KubeObject>) => void;

/** Options of {@linkcode ClusterCache}. */
export interface ClusterCacheOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly types: readonly ResourceType[];
  readonly random?: () => number;
  /** Called when it is known whether a Secret that is watched by name is there. */
  readonly onSecretKnown: (key: string) => void;
}

/** A store of which nothing could be heard for so long is said to be out of date. */
const STALE_AFTER_MS = 30_000;

interface Cached {
  readonly store: Store<KubeObject>;
  readonly reflector: Reflector<KubeObject>;
  /** The last failure, and when the API server had last been heard before it. */
  failure?: { readonly message: string; readonly heardAt: number };
}

/** Keeps stores equal to the API server, and answers reads from them. */
export class ClusterCache implements ObjectReader {
  readonly #cached = new Map<string, Cached>();
  readonly #listeners: ChangeListener[] = [];
  readonly #options: ClusterCacheOptions;
  /** Secrets of others, watched one by one because an object names them. */
  readonly secrets: SecretWatches;

  constructor(options: ClusterCacheOptions) {
    this.#options = options;
    for (const type of options.types) this.#add(type);
    this.secrets = new SecretWatches({
      ...options,
      onChange: (change) => this.#tell(SECRET, change),
      onKnown: options.onSecretKnown,
    });
  }

  /** Calls the listener for every later change. */
  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  get<T extends KubeObject>(type: ResourceType, key: string): T | undefined {
    const found = this.#of(type).store.get(key) ??
      (type === SECRET ? this.secrets.get(key) : undefined);
    return found as T | undefined;
  }

  list<T extends KubeObject>(type: ResourceType, namespace?: string): readonly T[] {
    return this.#of(type).store.list(namespace) as readonly T[];
  }

  byIndex<T extends KubeObject>(type: ResourceType, index: string, value: string): readonly T[] {
    return this.#of(type).store.byIndex(index, value) as readonly T[];
  }

  /**
   * Takes in the answer to a write of ours, so that the next plan sees it before
   * the watch tells of it.
   */
  took(type: ResourceType, object: KubeObject): void {
    const change = this.#of(type).store.upsert(trimmer(type)(object));
    if (change) this.#tell(type, change);
  }

  /** Why not all stores are filled yet, in a sentence; undefined when they are. */
  unsynced(): string | undefined {
    const waiting = [...this.#cached].filter(([, { reflector }]) => !reflector.hasSynced);
    if (waiting.length === 0) return undefined;
    const names = waiting.map(([name]) => name).join(", ");
    const failure = waiting.map(([, cached]) => failing(cached)).find((found) => found);
    return `reading ${names} from the API server${failure ? `: ${failure.message}` : ""}`;
  }

  /** Why the stores may be out of date, in a sentence; undefined when they are not. */
  stale(): string | undefined {
    const now = this.#options.clock.now();
    const deaf = [...this.#cached].flatMap(([name, cached]) => {
      const failure = failing(cached);
      return failure && now - failure.heardAt > STALE_AFTER_MS ? [{ name, ...failure }] : [];
    });
    const [first] = deaf;
    if (!first) return undefined;
    const seconds = Math.round((now - first.heardAt) / 1000);
    const names = deaf.map(({ name }) => name).join(", ");
    return `the API server has not been heard of ${names} for ${seconds} s, and what was known ` +
      `before is served: ${first.message}`;
  }

  /** Resolves when every store has been filled. */
  async synced(): Promise<void> {
    await Promise.all([...this.#cached.values()].map(({ reflector }) => reflector.synced));
  }

  /** Follows the API server until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      ...[...this.#cached.values()].map(({ reflector }) => reflector.run(signal)),
      this.secrets.run(signal),
    ]);
  }

  #of(type: ResourceType): Cached {
    const cached = this.#cached.get(nameOf(type));
    if (!cached) throw new TypeError(`${type.kind} is read, and no controller declares that it is`);
    return cached;
  }

  #add(type: ResourceType): void {
    const { client, clock, log, metrics, random } = this.#options;
    const store = new Store<KubeObject>({ indexes: indexesOf(type) });
    const reflector = new Reflector<KubeObject>({
      client,
      type,
      store,
      clock,
      log: log.named("watch"),
      trim: trimmer(type),
      onChange: (change) => this.#tell(type, change),
      onFailure: (error) => this.#failed(type, error),
      ...(TYPES_MADE.has(type) ? { labelSelector: `${Label.managedBy}=${MANAGED_BY}` } : {}),
      ...(random ? { random } : {}),
    });
    metrics.store(type.plural, () => store.size);
    metrics.watch(type.plural, () => reflector.lastEventAt);
    this.#cached.set(nameOf(type), { store, reflector });
  }

  #failed(type: ResourceType, error: unknown): void {
    const cached = this.#of(type);
    const message = error instanceof Error ? error.message : String(error);
    cached.failure = { message, heardAt: cached.reflector.lastEventAt };
  }

  #tell(type: ResourceType, change: Change<KubeObject>): void {
    this.#options.log.debug("object changed", {
      kind: type.kind,
      key: keyOf(change.object),
      change: change.type,
    });
    for (const listener of this.#listeners) listener(type, change);
  }
}

/** The last failure, unless the API server was heard since. */
function failing({ failure, reflector }: Cached): Cached["failure"] {
  return failure?.heardAt === reflector.lastEventAt ? failure : undefined;
}

function nameOf(type: ResourceType): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}
