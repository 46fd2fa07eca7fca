/**
 * Watches: a stream of changes, one JSON object a line.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { KubeObject } from "../../core/object.ts";
import { apiVersionOf } from "../../core/object.ts";
import { ApiError } from "./errors.ts";
import type { JsonMap } from "./json.ts";
import { inVersion } from "./list.ts";
import type { ListQuery } from "./query.ts";
import type { ResourceRoute } from "./route.ts";
import { type Change, type Storage, withVersion } from "./storage.ts";
import type { Table } from "./table.ts";
import { storeId } from "./types.ts";

/** How often a quiet watch says where it is. */
const BOOKMARK_MS = 60_000;
/** How long a watch runs that does not say. */
const DEFAULT_SECONDS = 1800;

/** What a watch needs of the server. */
export interface WatchParts {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The open watches; each ends itself when called. */
  readonly open: Set<() => void>;
  /** Objects are sent as rows of it. */
  readonly table?: Table;
}

/** Opens a watch. */
export function openWatch(parts: WatchParts, route: ResourceRoute, query: ListQuery): Response {
  const watch = new Watch(parts, route, query);
  return new Response(watch.stream, { headers: { "content-type": "application/json" } });
}

class Watch {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #parts: WatchParts;
  readonly #route: ResourceRoute;
  readonly #query: ListQuery;
  readonly #encoder = new TextEncoder();
  readonly #cleanups: (() => void)[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #sent = 0;

  constructor(parts: WatchParts, route: ResourceRoute, query: ListQuery) {
    this.#parts = parts;
    this.#route = route;
    this.#query = query;
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        this.#start();
      },
      cancel: () => this.#cleanUp(),
    });
  }

  #start(): void {
    try {
      this.#replay();
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      // The real server has answered 200 by then: the refusal is an event.
      this.#send("ERROR", cause.status());
      return this.#end();
    }
    const { storage, clock, signal, open } = this.#parts;
    const end = () => this.#end();
    const abort = () => this.#abort();
    open.add(end);
    signal.addEventListener("abort", abort, { once: true });
    const seconds = this.#query.timeoutSeconds || DEFAULT_SECONDS;
    this.#cleanups.push(
      storage.subscribe((change) => this.#relay(change)),
      clock.setTimer(() => this.#timeOut(), seconds * 1000),
      () => open.delete(end),
      () => signal.removeEventListener("abort", abort),
    );
    if (this.#query.bookmarks) this.#scheduleBookmark();
    if (signal.aborted) this.#abort();
  }

  /** What came before the watch: the objects as they are, or the changes since. */
  #replay(): void {
    const { storage } = this.#parts;
    const { resourceVersion: rv = 0, sendInitialEvents } = this.#query;
    this.#sent = Math.max(rv, storage.rv);
    if (rv !== 0 && !sendInitialEvents) {
      for (const change of storage.since(this.#route.type, rv)) this.#emit(change);
      return;
    }
    for (const object of storage.list(this.#route.type, this.#route.namespace)) {
      if (this.#query.matches(object)) this.#send("ADDED", inVersion(object, this.#route));
    }
    if (this.#query.bookmarks) {
      this.#bookmark({ annotations: { "k8s.io/initial-events-end": "true" } });
    }
  }

  #relay(change: Change): void {
    // A client that is ahead of this server hears of what comes after its own version.
    if (change.rv <= (this.#query.resourceVersion ?? 0)) return;
    this.#sent = change.rv;
    if (storeId(change.type) === storeId(this.#route.type)) this.#emit(change);
  }

  /** An object that starts or stops to match is added or deleted for this watch. */
  #emit({ before, after, rv }: Change): void {
    const had = before !== undefined && this.#query.matches(before);
    const has = after !== undefined && this.#query.matches(after);
    if (has) this.#send(had ? "MODIFIED" : "ADDED", inVersion(after, this.#route));
    else if (had) this.#send("DELETED", this.#deleted(before, rv));
  }

  #deleted(before: KubeObject, rv: number): JsonMap {
    return inVersion(withVersion(before, rv), this.#route);
  }

  #scheduleBookmark(): void {
    let cancel = () => {};
    const tick = () => {
      this.#bookmark();
      cancel = this.#parts.clock.setTimer(tick, BOOKMARK_MS);
    };
    cancel = this.#parts.clock.setTimer(tick, BOOKMARK_MS);
    this.#cleanups.push(() => cancel());
  }

  #bookmark(metadata: JsonMap = {}): void {
    const { type, version } = this.#route;
    this.#send("BOOKMARK", {
      kind: type.kind,
      apiVersion: apiVersionOf({ group: type.group, version }),
      metadata: { resourceVersion: String(this.#sent), creationTimestamp: null, ...metadata },
    });
  }

  #send(type: string, object: JsonMap): void {
    const { table } = this.#parts;
    const shown = table && type !== "ERROR" ? table.ofEvent(type, object) : object;
    const line = `${JSON.stringify({ type, object: shown })}\n`;
    this.#controller?.enqueue(this.#encoder.encode(line));
  }

  #timeOut(): void {
    if (this.#query.bookmarks) this.#bookmark();
    this.#end();
  }

  #end(): void {
    this.#controller?.close();
    this.#cleanUp();
  }

  #abort(): void {
    this.#controller?.error(this.#parts.signal.reason);
    this.#cleanUp();
  }

  #cleanUp(): void {
    this.#controller = undefined;
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
  }
}
