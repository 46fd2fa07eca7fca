/**
 * Runs one controller: turns changes into keys, and works on one key after another.
 *
 * @module
 */
import { keyOf, type KubeObject, type ResourceType } from "../core/object.ts";
import type { Failure } from "../controllers/world.ts";
import type { Change } from "../kube/store.ts";
import { QueueClosed, WorkQueue } from "../kube/workqueue.ts";
import type { Metrics, QueueMetrics } from "../telemetry/metrics.ts";
import { traced } from "../telemetry/tracing.ts";
import { type Outcome, Reconciler, type ReconcilerOptions } from "./reconciler.ts";

/** Options of {@linkcode Engine}. */
export interface EngineOptions extends ReconcilerOptions {
  readonly metrics: Metrics;
}

/**
 * Keys of one controller that are worked on at the same time: enough that some
 * tailnets whose API hangs do not stop the others.
 */
const WORKERS = 16;
/** A fault of our own is not mended by haste. */
const FAULT_BACKOFF = { baseMs: 1_000, maxMs: 300_000 };
/** The least wait where a plan asks to be looked at again and names no time to come. */
const LEAST_WAIT_MS = 1_000;

/** The loop of one controller. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #reconciler: Reconciler;
  readonly #queue: WorkQueue;
  readonly #queueMetrics: QueueMetrics;
  /** When each key that waits is due. */
  readonly #dueAt = new Map<string, number>();

  constructor(options: EngineOptions) {
    const { controller, clock, random, metrics, log } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, backoff: FAULT_BACKOFF, ...(random ? { random } : {}) });
    this.#queueMetrics = metrics.queue(controller.name, () => this.#queue.length);
    this.#reconciler = new Reconciler({ ...options, log: log.named(controller.name) });
  }

  /** The last failure of a key, until a run succeeds. */
  failure(key: string): Failure | undefined {
    return this.#reconciler.failure(key);
  }

  /** Has the key been worked on since the start, or since it came? */
  hasRun(key: string): boolean {
    return this.#reconciler.hasRun(key);
  }

  /** Keys that are being worked on. */
  get inFlight(): number {
    return this.#queue.inFlight;
  }

  /** An object changed: queues the keys that it concerns. */
  changed(type: ResourceType, change: Change<KubeObject>): void {
    const { controller } = this.#options;
    if (type === controller.type) this.add(keyOf(change.object));
    for (const mapping of controller.mappings) {
      if (mapping.type !== type) continue;
      const world = this.#options.world();
      // What an object no longer names is concerned too.
      for (const object of change.old ? [change.object, change.old] : [change.object]) {
        for (const key of mapping.keys(object, world)) this.add(key);
      }
    }
  }

  /** What is known of a tailnet changed. */
  tailnetChanged(tailnet: string): void {
    const keys = this.#options.controller.keysOfTailnet?.(tailnet, this.#options.world()) ?? [];
    for (const key of keys) this.add(key);
  }

  /** What hooks render, or have seen, changed. */
  hooksChanged(): void {
    const { controller, cache } = this.#options;
    if (!controller.followsHooks) return;
    for (const object of cache.list(controller.type)) this.add(keyOf(object));
  }

  /** Queues a key. */
  add(key: string, afterMs = 0): void {
    this.#noteDue(key, afterMs);
    this.#queue.add(key, { afterMs });
  }

  /** Works until the signal aborts; what runs then is finished. It may be run again. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work(signal)));
  }

  /** Forgets what its runs came to: another replica may act from now on. */
  reset(): void {
    this.#reconciler.reset();
  }

  /** Queues nothing any more. */
  close(): void {
    this.#queue.close();
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let key: string;
      try {
        key = await this.#queue.next(signal);
      } catch (error) {
        if (signal.aborted || error instanceof QueueClosed) return;
        throw error;
      }
      await this.#workOn(key);
    }
  }

  async #workOn(key: string): Promise<void> {
    const { clock, metrics, controller } = this.#options;
    const began = clock.now();
    this.#queueMetrics.started(Math.max(0, began - (this.#dueAt.get(key) ?? began)));
    this.#dueAt.delete(key);
    const outcome = await this.#reconcile(key);
    const took = clock.now() - began;
    this.#queueMetrics.finished(took);
    metrics.reconciled(controller.name, resultOf(outcome), took);
    this.#schedule(key, outcome);
    this.#queue.done(key);
  }

  #reconcile(key: string): Promise<Outcome> {
    const { name: controller } = this.#options.controller;
    return traced(`reconcile ${controller}`, { controller, key }, async (span) => {
      const outcome = await this.#reconciler.run(key);
      span.set({ result: resultOf(outcome) });
      return outcome;
    });
  }

  #noteDue(key: string, afterMs: number): void {
    const dueAt = this.#options.clock.now() + afterMs;
    this.#dueAt.set(key, Math.min(dueAt, this.#dueAt.get(key) ?? Infinity));
    this.#queueMetrics.added();
  }

  /** When the key is looked at next, if nothing changes before. */
  #schedule(key: string, outcome: Outcome): void {
    const now = this.#options.clock.now();
    if (outcome.kind !== "done") this.#queueMetrics.retried();
    if (outcome.kind === "fault") {
      this.#noteDue(key, this.#queue.retry(key));
      return;
    }
    this.#queue.forget(key);
    if (outcome.kind === "retry") this.add(key, Math.max(0, outcome.at - now));
    else if (outcome.wakeAt !== undefined) {
      this.add(key, outcome.wakeAt > now ? outcome.wakeAt - now : LEAST_WAIT_MS);
    }
  }
}

function resultOf(outcome: Outcome): "success" | "requeue_after" | "error" {
  if (outcome.kind !== "done") return "error";
  return outcome.wakeAt === undefined ? "success" : "requeue_after";
}
