/**
 * Kubernetes Events (`events.k8s.io/v1`) that say what we do to an object.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { KubeObject, ResourceType } from "../core/object.ts";
import type { KubeClient } from "./client.ts";
import { isNotFound } from "./errors.ts";
import type { Logger } from "./log.ts";

/** The object that an Event is about. */
export type Regarding = Pick<KubeObject, "apiVersion" | "kind"> & {
  metadata: Pick<KubeObject["metadata"], "name" | "namespace" | "uid">;
};

/** What to say. */
export interface EventInit {
  type: "Normal" | "Warning";
  /** Why, in CamelCase; at most 128 characters. */
  reason: string;
  /** For people; cut at 1024 bytes. */
  note: string;
  /** What was done or tried, in CamelCase. Default `Reconcile`. */
  action?: string;
}

/** Settings of {@linkcode EventRecorder}. */
export interface EventRecorderOptions {
  client: KubeClient;
  clock: Clock;
  /** The controller's name, such as `gateway.tailscale.com/operator`. */
  component: string;
  /** This process, such as its pod's name. */
  instance: string;
  log: Logger;
}

const EVENTS: ResourceType = {
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  plural: "events",
  namespaced: true,
};

/** The same again within this time counts up the Event, after it makes a new one (as client-go). */
const SERIES_MS = 6 * 60_000;
/** A series is written at most so often. */
const UPDATE_MS = 60_000;
/** New Events per object at once, and how long until one more (as client-go's spam filter). */
const BURST = 25;
const REFILL_MS = 300_000;
/** Series and objects that are remembered. */
const MAX_REMEMBERED = 4096;
/** Writes that wait, past which Events are dropped. */
const MAX_WAITING = 512;

interface Series {
  readonly name: string;
  readonly namespace: string;
  count: number;
  writtenCount: number;
  lastAt: number;
  writtenAt: number;
}

interface Budget {
  tokens: number;
  at: number;
}

/**
 * Writes Events in the background. The same Event of the same object is counted, not
 * repeated; an object that is chatty is held back; a write that fails is logged and
 * never harms the caller.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series = new Map<string, Series>();
  readonly #budgets = new Map<string, Budget>();
  #writes: Promise<void> = Promise.resolve();
  #waiting = 0;
  #dropped = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /** Events that were held back or lost. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Says something about an object. Returns at once. */
  record(regarding: Regarding, event: EventInit): void {
    const now = this.#options.clock.now();
    const id = JSON.stringify([objectId(regarding), event.type, event.reason, event.note]);
    const series = this.#series.get(id);
    if (series && now - series.lastAt < SERIES_MS) {
      series.count++;
      series.lastAt = now;
      if (now - series.writtenAt >= UPDATE_MS) this.#writeSeries(id, series);
      return;
    }
    if (!this.#spend(objectId(regarding), now)) {
      this.#dropped++;
      return;
    }
    this.#create(id, regarding, event);
  }

  /** Resolves when all that was recorded is written, or has failed to be. */
  async flush(): Promise<void> {
    for (const [id, series] of this.#series) {
      if (series.count > series.writtenCount) this.#writeSeries(id, series);
    }
    await this.#writes;
  }

  #create(id: string, regarding: Regarding, event: EventInit): void {
    const now = this.#options.clock.now();
    const namespace = regarding.metadata.namespace ?? "default";
    const name = eventName(regarding.metadata.name, now, id);
    const fresh = { name, namespace, count: 1, writtenCount: 1, lastAt: now, writtenAt: now };
    remember(this.#series, id, fresh);
    const object = this.#eventObject({ name, namespace }, regarding, event);
    this.#write(async () => {
      await this.#options.client.create(EVENTS, object);
    });
  }

  #eventObject(metadata: KubeObject["metadata"], regarding: Regarding, event: EventInit) {
    const { component, instance, clock } = this.#options;
    const { name, namespace, uid } = regarding.metadata;
    return {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata,
      eventTime: microTime(clock.now()),
      reportingController: component,
      reportingInstance: cutBytes(instance, 128),
      action: event.action ?? "Reconcile",
      reason: event.reason,
      type: event.type,
      note: cutBytes(event.note, 1024),
      regarding: {
        apiVersion: regarding.apiVersion,
        kind: regarding.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
      },
    };
  }

  #writeSeries(id: string, series: Series): void {
    series.writtenAt = this.#options.clock.now();
    series.writtenCount = series.count;
    const { name, namespace, count, lastAt } = series;
    const patch = { series: { count, lastObservedTime: microTime(lastAt) } };
    this.#write(async () => {
      try {
        const contentType = "application/merge-patch+json";
        await this.#options.client.patch(EVENTS, name, namespace, patch, { contentType });
      } catch (error) {
        // Events live for an hour or less: the next one starts a new series.
        if (!isNotFound(error)) throw error;
        this.#series.delete(id);
      }
    });
  }

  #write(send: () => Promise<void>): void {
    if (this.#waiting >= MAX_WAITING) {
      this.#dropped++;
      return;
    }
    this.#waiting++;
    this.#writes = this.#writes.then(async () => {
      try {
        await send();
      } catch (error) {
        this.#dropped++;
        this.#options.log.warn("an Event could not be written", { error });
      } finally {
        this.#waiting--;
      }
    });
  }

  #spend(object: string, now: number): boolean {
    const budget = this.#budgets.get(object) ?? { tokens: BURST, at: now };
    const refill = Math.floor((now - budget.at) / REFILL_MS);
    const tokens = Math.min(BURST, budget.tokens + Math.max(0, refill));
    const at = tokens === BURST ? now : budget.at + Math.max(0, refill) * REFILL_MS;
    remember(this.#budgets, object, { tokens: Math.max(0, tokens - 1), at });
    return tokens > 0;
  }
}

function objectId({ kind, metadata }: Regarding): string {
  return metadata.uid ?? `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
}

/** Sets an entry, and forgets the oldest one when there are too many. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next().value;
  if (map.size > MAX_REMEMBERED && oldest !== undefined) map.delete(oldest);
}

/** A name as client-go gives: the object's, a dot, and something unique. */
function eventName(object: string, now: number, id: string): string {
  const unique = `${now.toString(16)}${hash(id).toString(16).padStart(8, "0")}`;
  const kept = object.slice(0, 253 - 1 - unique.length).replace(/[^a-z0-9]+$/, "");
  return `${kept}.${unique}`;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  }
  return sum >>> 0;
}

/** `MicroTime`: RFC 3339 with six digits. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

/** At most so many bytes of UTF-8, cut between characters. */
function cutBytes(text: string, max: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= max) return text;
  const room = max - 3; // for the ellipsis
  let end = room;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return new TextDecoder().decode(bytes.subarray(0, end)) + "…";
}
