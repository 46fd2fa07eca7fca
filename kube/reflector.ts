/**
 * Keeps a store equal to what the API server has, by list and watch.
 *
 * @module
 */
import { type Clock, sleep } from "../core/clock.ts";
import type { KubeObject, ResourceType } from "../core/object.ts";
import { type BackoffLimits, backoffMs } from "./backoff.ts";
import type { KubeClient, Selection, WatchEvent } from "./client.ts";
import { isGone, isNotFound, KubeApiError, KubeConnectionError, retryAfterOf } from "./errors.ts";
import { type Logger, silentLog } from "./log.ts";
import type { Change, Store } from "./store.ts";

/** Where a {@linkcode Reflector} stands. Each state says where a failure leads. */
export type ReflectorState =
  /** Knows nothing, or nothing that can be gone on from. Next: list from scratch. */
  | { readonly at: "empty" }
  /** Reads page after page. Token expired (410) → empty; not served (404) → absent; other failures → empty. */
  | { readonly at: "listing"; readonly objects: number }
  /** Follows changes from a version. Closed, broken or silent → watching from the last version; 410 → empty. */
  | { readonly at: "watching"; readonly resourceVersion: string }
  /** The API server does not serve the kind: its CRD is not installed. Tried again later → empty. */
  | { readonly at: "absent" }
  /** Its signal has aborted. Final. */
  | { readonly at: "stopped" };

/** Settings of {@linkcode Reflector}. */
export interface ReflectorOptions<T extends KubeObject> extends Selection {
  client: KubeClient;
  type: ResourceType;
  store: Store<T>;
  clock: Clock;
  /** Jitter, in [0, 1). Default `Math.random`. */
  random?: () => number;
  /** What of an object is kept: must leave `metadata.{name,namespace,resourceVersion}` alone. */
  trim?: (object: T) => T;
  /** Called after each change of the store. */
  onChange(change: Change<T>): void;
  /** Called at each change of state. */
  onState?: (state: ReflectorState) => void;
  /** Called for each failure, with the milliseconds until the next try. */
  onFailure?: (error: unknown, retryMs: number) => void;
  log?: Logger;
  /** Objects per page of a list. Default 500. */
  pageSize?: number;
  /**
   * Milliseconds without a byte after which a watch counts as dead. Default 75 000: the API
   * server sends a bookmark about every 60 s, so that only a dead connection is silent for so long.
   * After 2/5 of it the transport is asked whether the connection is dead, which is quicker.
   */
  idleTimeoutMs?: number;
  /** After how many seconds, up to half as many again, the server ends a watch. Default 600. */
  watchSeconds?: number;
}

/** Whatever has failed is caught up with some seconds after it is well again. */
const BACKOFF: BackoffLimits = { baseMs: 250, maxMs: 6_000 };
/** So many connections in a row that fail are an outage. */
const OUTAGE = 3;
const ABSENT_BACKOFF: BackoffLimits = { baseMs: 2_000, maxMs: 60_000 };
/** A garbled Retry-After must not make us deaf. */
const MAX_RETRY_AFTER_MS = 600_000;
/** A watch that lived for so long, or that brought an event, was not in vain. */
const PRODUCTIVE_MS = 10_000;
/** After so many expired continue tokens the list is read in one piece. */
const MAX_EXPIRED_LISTS = 2;

/** What one step leads to. */
interface Step {
  readonly state: ReflectorState;
  /** The step failed: wait before the next one. */
  readonly error?: unknown;
}

/**
 * Lists a kind, then watches it from the list's version on. Where a watch ends, the next
 * one goes on from the last version seen, without a new list. There is never more than
 * one watch connection.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #log: Logger;
  readonly #random: () => number;
  #state: ReflectorState = { at: "empty" };
  #failures = 0;
  /** Connections in a row that failed. */
  #unreachable = 0;
  #absences = 0;
  #expiredLists = 0;
  #synced = Promise.withResolvers<void>();
  #hasSynced = false;
  #wake: AbortController | undefined;
  #lastEventAt: number;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#log = options.log ?? silentLog;
    this.#random = options.random ?? Math.random;
    this.#lastEventAt = options.clock.now();
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Resolves when the store has first been filled, or when the kind is known to be absent. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  /** Whether {@linkcode Reflector.synced} has resolved. */
  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** When the API server was last heard (milliseconds since the epoch), for a metric of staleness. */
  get lastEventAt(): number {
    return this.#lastEventAt;
  }

  /** Ends a wait after a failure at once, such as when a CRD is known to have been installed. */
  retryNow(): void {
    this.#wake?.abort();
  }

  /** Runs until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const step = await this.#step(signal);
      if (signal.aborted) break;
      this.#enter(step.state);
      if (step.error !== undefined) await this.#waitAfter(step, signal);
    }
    this.#enter({ at: "stopped" });
  }

  async #step(signal: AbortSignal): Promise<Step> {
    const state = this.#state;
    try {
      return state.at === "watching"
        ? await this.#watch(state.resourceVersion, signal)
        : await this.#list(signal);
    } catch (error) {
      return { state: this.#afterError(error), error };
    }
  }

  /** Where a failure leads; see {@linkcode ReflectorState}. */
  #afterError(error: unknown): ReflectorState {
    const state = this.#state;
    if (state.at === "watching") return mustRelist(error) ? { at: "empty" } : state;
    if (isGone(error)) this.#expiredLists++;
    return isNotFound(error) ? { at: "absent" } : { at: "empty" };
  }

  async #list(signal: AbortSignal): Promise<Step> {
    const { client, type, store, trim } = this.#options;
    const since = store.mark();
    const objects: T[] = [];
    let page: string | undefined;
    let resourceVersion: string;
    do {
      this.#enter({ at: "listing", objects: objects.length });
      const answer = await client.list<T>(type, { ...this.#page(page), signal });
      this.#lastEventAt = this.#options.clock.now();
      for (const item of answer.items) objects.push(trim ? trim(item) : item);
      resourceVersion = answer.resourceVersion;
      page = answer.continue;
    } while (page !== undefined);
    this.#expiredLists = 0;
    this.#absences = 0;
    for (const change of store.replace(objects, { resourceVersion, since })) this.#tell(change);
    this.#setSynced();
    return { state: { at: "watching", resourceVersion } };
  }

  #page(token: string | undefined) {
    const { pageSize = 500 } = this.#options;
    const limit = this.#expiredLists < MAX_EXPIRED_LISTS ? pageSize : undefined;
    return { ...selectionOf(this.#options), limit, continue: token };
  }

  async #watch(from: string, signal: AbortSignal): Promise<Step> {
    const { client, type, clock, idleTimeoutMs = 75_000, watchSeconds = 600 } = this.#options;
    let openedAt: number | undefined;
    const heard = () => this.#lastEventAt = clock.now();
    const events = client.watch<T>(type, {
      ...selectionOf(this.#options),
      resourceVersion: from,
      timeoutSeconds: watchSeconds * (1 + this.#random() / 2),
      idleTimeoutMs,
      clock,
      signal,
      onOpen: () => openedAt = heard(),
      onBytes: heard,
    });
    let productive = false;
    try {
      for await (const event of events) {
        productive = true;
        this.#failures = 0;
        this.#apply(event);
      }
    } finally {
      productive ||= openedAt !== undefined && clock.now() - openedAt >= PRODUCTIVE_MS;
      if (productive) this.#failures = 0;
    }
    // A server, or a proxy before it, that closes at once must not be called in a tight loop.
    const what = `WATCH ${type.plural}`;
    const error = productive ? undefined : new KubeConnectionError(what, "it was closed at once");
    return { state: this.#state, error };
  }

  #apply(event: WatchEvent<T>): void {
    const { store, trim } = this.#options;
    const { resourceVersion } = event.object.metadata;
    // Moves on without onState: this is the same state, further on.
    if (resourceVersion) this.#state = { at: "watching", resourceVersion };
    if (event.type === "BOOKMARK") return;
    const object = trim ? trim(event.object) : event.object;
    const change = event.type === "DELETED" ? store.remove(object) : store.upsert(object);
    if (change) this.#tell(change);
  }

  #tell(change: Change<T>): void {
    try {
      this.#options.onChange(change);
    } catch (error) {
      this.#log.error("a change could not be handled", { kind: this.#options.type.kind, error });
    }
  }

  #enter(state: ReflectorState): void {
    if (state.at === "absent") this.#clear();
    const changed = state !== this.#state;
    this.#state = state;
    if (changed) this.#options.onState?.(state);
  }

  /** A kind that is not served has no objects. */
  #clear(): void {
    for (const change of this.#options.store.replace([])) this.#tell(change);
    this.#setSynced();
  }

  #setSynced(): void {
    this.#hasSynced = true;
    this.#synced.resolve();
  }

  async #waitAfter({ state, error }: Step, signal: AbortSignal): Promise<void> {
    const ms = this.#retryMs(state, error);
    this.#report(state, error, ms);
    this.#wake = new AbortController();
    const wake = this.#wake;
    const onAbort = () => wake.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    // Either the time is over, or somebody woke us: both mean to go on.
    await sleep(this.#options.clock, ms, wake.signal).catch(() => {});
    signal.removeEventListener("abort", onAbort);
    this.#wake = undefined;
  }

  #retryMs(state: ReflectorState, error: unknown): number {
    if (state.at === "absent") return backoffMs(ABSENT_BACKOFF, ++this.#absences, this.#random());
    const outage = this.#unreachable >= OUTAGE;
    this.#unreachable = error instanceof KubeConnectionError ? this.#unreachable + 1 : 0;
    // It is there again: what it answers first (such as 410) is not to wait as the outage was.
    if (outage && this.#unreachable === 0) this.#failures = 0;
    const asked = Math.min(retryAfterOf(error), MAX_RETRY_AFTER_MS);
    return Math.max(asked, backoffMs(BACKOFF, ++this.#failures, this.#random()));
  }

  #report(state: ReflectorState, error: unknown, retryMs: number): void {
    this.#options.onFailure?.(error, retryMs);
    const facts = { kind: this.#options.type.kind, state: state.at, retryMs, error };
    if (state.at === "absent") this.#log.debug("the kind is not served", facts);
    else if (isGone(error)) this.#log.info("listing again: the watch is too far behind", facts);
    else if (this.#failures <= 1) this.#log.info("trying again", facts);
    else this.#log.warn("the API server can't be followed", facts);
  }
}

/** Errors after which the version that we have is of no use. */
function mustRelist(error: unknown): boolean {
  if (isGone(error) || isNotFound(error)) return true;
  // "Too large resource version": etcd was restored to an older state.
  return error instanceof KubeApiError &&
    (error.status === 400 || error.causes.includes("ResourceVersionTooLarge"));
}

function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return { namespace, labelSelector, fieldSelector };
}
