/**
 * Runs one controller: takes a key, plans on what is, acts, plans again on what
 * then is, and writes the status once if it says something new.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { apiVersionOf, type Condition, keyOf } from "../core/object.ts";
import type { KubeObject, ResourceType } from "../core/object.ts";
import { type Controller, fieldManagerOf, type Plan } from "../controllers/controller.ts";
import type { Failure, World } from "../controllers/world.ts";
import type { KubeClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import type { EventRecorder } from "../kube/events.ts";
import { statusChanged } from "../kube/status.ts";
import type { Change } from "../kube/store.ts";
import { QueueClosed, WorkQueue } from "../kube/workqueue.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics, QueueMetrics } from "../telemetry/metrics.ts";
import type { ActionRunner } from "./actions.ts";
import type { ClusterCache } from "./cache.ts";
import { failureOf } from "./failures.ts";

/** Options of {@linkcode Engine}. */
export interface EngineOptions {
  readonly controller: Controller;
  readonly world: () => World;
  readonly runner: ActionRunner;
  readonly client: KubeClient;
  readonly cache: ClusterCache;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: () => number;
  /** Called after each run of a key that is there; `first`: since it came. */
  readonly onRun?: (key: string, first: boolean) => void;
}

/** Keys of one controller that are worked on at the same time. */
const WORKERS = 4;

/** What a run of a key leads to. */
type Outcome =
  | { readonly kind: "done"; readonly wakeAt?: number | undefined }
  | { readonly kind: "retry"; readonly notBefore?: number | undefined };

/** The loop of one controller. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #queue: WorkQueue;
  readonly #queueMetrics: QueueMetrics;
  readonly #fieldManager: string;
  readonly #log: Log;
  readonly #failures = new Map<string, Failure>();
  readonly #ran = new Set<string>();

  constructor(options: EngineOptions) {
    const { controller, clock, random, metrics, log } = options;
    this.#options = options;
    this.#queue = new WorkQueue({ clock, ...(random ? { random } : {}) });
    this.#queueMetrics = metrics.queue(controller.name, () => this.#queue.length);
    this.#fieldManager = fieldManagerOf(controller);
    this.#log = log.named(controller.name);
  }

  /** The last failure of a key, until a run succeeds. */
  failure(key: string): Failure | undefined {
    return this.#failures.get(key);
  }

  /** Has the key been worked on since the start? */
  hasRun(key: string): boolean {
    return this.#ran.has(key);
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
    if (!this.#options.controller.followsHooks) return;
    for (const object of this.#options.cache.list(this.#options.controller.type)) {
      this.add(keyOf(object));
    }
  }

  /** Queues a key. */
  add(key: string, afterMs = 0): void {
    this.#queueMetrics.added();
    this.#queue.add(key, { afterMs });
  }

  /** Works until the signal aborts; what runs then is finished. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work(signal)));
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
    this.#queueMetrics.started(0);
    const outcome = await this.#reconcile(key);
    const took = clock.now() - began;
    this.#queueMetrics.finished(took);
    this.#queue.done(key);
    if (outcome.kind === "retry") {
      this.#queueMetrics.retried();
      metrics.reconciled(controller.name, "error", took);
      this.#retry(key, outcome.notBefore);
      return;
    }
    this.#queue.forget(key);
    const wait = outcome.wakeAt === undefined ? undefined : outcome.wakeAt - clock.now();
    metrics.reconciled(controller.name, wait === undefined ? "success" : "requeue_after", took);
    if (wait !== undefined) this.#queue.add(key, { afterMs: Math.max(0, wait) });
  }

  /** The queue's own backoff, unless whoever refused said when to come again. */
  #retry(key: string, notBefore: number | undefined): void {
    if (notBefore === undefined) return void this.#queue.retry(key);
    this.#queue.add(key, { afterMs: Math.max(0, notBefore - this.#options.clock.now()) });
  }

  /** One run. Never throws: a fault of our own is logged and tried again, slower and slower. */
  async #reconcile(key: string): Promise<Outcome> {
    try {
      const first = this.#plan(key);
      if (!first) {
        this.#failures.delete(key);
        this.#ran.delete(key);
        return { kind: "done" };
      }
      const failure = await this.#act(first, key);
      this.#markRun(key);
      // The status tells of the world after the actions, and of the failure.
      const second = this.#plan(key);
      if (second?.status !== undefined) await this.#writeStatus(key, second.status);
      if (failure) return { kind: "retry", notBefore: failure.retryAt };
      return { kind: "done", wakeAt: second?.wakeAt };
    } catch (error) {
      this.#log.error("reconcile failed", { key, error });
      return { kind: "retry" };
    }
  }

  #markRun(key: string): void {
    const first = !this.#ran.has(key);
    this.#ran.add(key);
    this.#options.onRun?.(key, first);
  }

  #plan(key: string): Plan | undefined {
    const { controller, world, clock } = this.#options;
    const observed = controller.observe(world(), key);
    return observed === undefined ? undefined : controller.plan(observed, clock.now());
  }

  /** Runs the plan's actions in order; the first that fails ends them. */
  async #act(plan: Plan, key: string): Promise<Failure | undefined> {
    for (const action of plan.actions) {
      try {
        await this.#options.runner.run(action);
      } catch (error) {
        const failure = failureOf(error, this.#options.clock.now());
        this.#log.warn("action failed", { key, action: action.do, reason: failure.reason, error });
        this.#failures.set(key, failure);
        return failure;
      }
    }
    this.#failures.delete(key);
    return undefined;
  }

  async #writeStatus(key: string, status: unknown): Promise<void> {
    const { controller, cache, client } = this.#options;
    const { type, volatileStatus = [] } = controller;
    const live = cache.get<KubeObject & { status?: unknown }>(type, key);
    if (!live || !statusChanged(live.status, status, volatileStatus)) return;
    const { name, namespace, uid } = live.metadata;
    const object: KubeObject & { status: unknown } = {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
      status,
    };
    try {
      const written = await client.apply(type, object, {
        fieldManager: this.#fieldManager,
        force: true,
        subresource: "status",
      });
      cache.took(type, written);
      this.#tell(live, written as typeof object);
    } catch (error) {
      if (!isNotFound(error)) throw error; // deleted meanwhile: nobody reads its status any more
    }
  }

  /** An Event when the summary changes its mind. */
  #tell(before: { status?: unknown }, after: KubeObject & { status: unknown }): void {
    const old = readyCondition(before.status);
    const ready = readyCondition(after.status);
    if (!ready || (old?.status === ready.status && old.reason === ready.reason)) return;
    this.#options.events.record(after, {
      type: ready.status === "True" ? "Normal" : "Warning",
      reason: ready.reason,
      note: ready.message,
    });
  }
}

function readyCondition(status: unknown): Condition | undefined {
  const conditions = (status as { conditions?: Condition[] } | undefined)?.conditions;
  return conditions?.find(({ type }) => type === "Ready");
}
