/**
 * Brings one object a step further: plans on what is, acts, plans again on what
 * then is, and writes the status once if it says something new.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { shortHash } from "../core/hash.ts";
import { apiVersionOf, type Condition } from "../core/object.ts";
import type { KubeObject } from "../core/object.ts";
import {
  type Action,
  type Controller,
  fieldManagerOf,
  type Plan,
} from "../controllers/controller.ts";
import type { Failure, World } from "../controllers/world.ts";
import type { KubeClient } from "../kube/client.ts";
import { isNotFound, KubeApiError, KubeConnectionError, NotLeaderError } from "../kube/errors.ts";
import type { EventRecorder } from "../kube/events.ts";
import { statusChanged } from "../core/apply/status.ts";
import type { Log } from "../telemetry/log.ts";
import { traced } from "../telemetry/tracing.ts";
import type { ActionRunner } from "./actions.ts";
import { Brake } from "./brake.ts";
import type { ClusterCache } from "./cache.ts";
import { clusterRetryAt, failureOf, type TimedFailure } from "./failures.ts";

/** Options of {@linkcode Reconciler}. */
export interface ReconcilerOptions {
  readonly controller: Controller;
  readonly world: () => World;
  readonly runner: ActionRunner;
  readonly client: KubeClient;
  readonly cache: ClusterCache;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
  /** Called after each run of a key that is there; `first`: since it came. */
  readonly onRun?: (key: string, first: boolean) => void;
}

/** What a run of a key leads to. Times are milliseconds since the epoch. */
export type Outcome =
  /** Nothing failed. */
  | { readonly kind: "done"; readonly wakeAt?: number | undefined }
  /** Somebody refused something. */
  | { readonly kind: "retry"; readonly at: number }
  /** A fault of our own. */
  | { readonly kind: "fault" };

/** An action that failed, and is not tried again before its time. */
interface Held {
  readonly failure: TimedFailure;
  /** Hash of the action: another one is tried at once. */
  readonly action: string;
  readonly tries: number;
  /** When it failed. */
  readonly at: number;
}

/** A status that could not be written, and is not tried again before its time. */
interface Unsaid {
  readonly tries: number;
  readonly at: number;
  readonly retryAt: number;
}

/** Runs the plans of one controller. */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  readonly #fieldManager: string;
  readonly #held = new Map<string, Held>();
  readonly #unsaid = new Map<string, Unsaid>();
  readonly #ran = new Set<string>();
  readonly #brake: Brake;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
    this.#brake = new Brake(options.clock);
    this.#fieldManager = fieldManagerOf(options.controller);
  }

  /** The last failure of a key, until a run succeeds. */
  failure(key: string): Failure | undefined {
    return this.#held.get(key)?.failure;
  }

  /** Has the key been worked on since the start, or since it came? */
  hasRun(key: string): boolean {
    return this.#ran.has(key);
  }

  /** Forgets what all runs came to. */
  reset(): void {
    this.#held.clear();
    this.#unsaid.clear();
    this.#ran.clear();
  }

  /** One run. Never throws. */
  async run(key: string): Promise<Outcome> {
    try {
      const plan = this.#plan(key);
      if (!plan) return this.#forget(key);
      const wait = plan.actions.length > 0 ? this.#braked(key) : 0;
      if (wait > 0) return { kind: "retry", at: this.#options.clock.now() + wait };
      // Many actions take their time: a new object is not silent meanwhile.
      if (plan.status !== undefined && !this.#hasStatus(key)) {
        await this.#writeStatus(key, plan.status);
      }
      const failure = await this.#act(plan, key);
      this.#markRun(key);
      // The status tells of the world after the actions, and of the failure.
      const { status, wakeAt } = this.#plan(key) ?? {};
      const unsaidUntil = status === undefined ? undefined : await this.#writeStatus(key, status);
      const retries = [failure?.retryAt, unsaidUntil].filter((at) => at !== undefined);
      return retries.length === 0
        ? { kind: "done", wakeAt }
        : { kind: "retry", at: Math.min(...retries) };
    } catch (error) {
      this.#options.log.error("reconcile failed: a fault of the operator's own", { key, error });
      return { kind: "fault" };
    }
  }

  #hasStatus(key: string): boolean {
    const { controller, cache } = this.#options;
    return cache.get<KubeObject & { status?: unknown }>(controller.type, key)?.status !== undefined;
  }

  #forget(key: string): Outcome {
    this.#held.delete(key);
    this.#unsaid.delete(key);
    this.#brake.forget(key);
    this.#ran.delete(key);
    return { kind: "done" };
  }

  /** How long a key that is acted on far too often has to wait. */
  #braked(key: string): number {
    const wait = this.#brake.waitMs(key);
    if (wait > 0) {
      this.#options.log.warn("acted on too often: somebody else may undo what is done", { key });
    } else this.#brake.spend(key);
    return wait;
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

  /** Runs the plan's actions in order; the first that fails, or is held back, ends them. */
  async #act(plan: Plan, key: string): Promise<TimedFailure | undefined> {
    for (const action of plan.actions) {
      const held = this.#held.get(key);
      const digest = held && digestOf(action);
      const again = held && held.action === digest ? held : undefined;
      if (again && this.#isHeld({ ...again.failure, at: again.at })) return again.failure;
      try {
        await traced(`action ${action.do}`, { key }, () => this.#options.runner.run(action));
      } catch (error) {
        return this.#hold(key, action, { error, tries: (again?.tries ?? 0) + 1 });
      }
    }
    this.#held.delete(key);
    return undefined;
  }

  #isHeld({ retryAt, at }: { retryAt: number; at: number }): boolean {
    const now = this.#options.clock.now();
    // A clock that was set back holds nothing for as long as it jumped.
    return retryAt > now && at <= now;
  }

  #hold(
    key: string,
    action: Action,
    { error, tries }: { error: unknown; tries: number },
  ): TimedFailure {
    const { log, clock, random = Math.random } = this.#options;
    const failure = failureOf(error, { now: clock.now(), tries, random: random() });
    log.warn("action failed", { key, action: action.do, reason: failure.reason, tries, error });
    this.#held.set(key, { failure, action: digestOf(action), tries, at: clock.now() });
    return failure;
  }

  /** Writes the status if it says something new. When that fails: the time of the next try. */
  async #writeStatus(key: string, status: unknown): Promise<number | undefined> {
    const { controller: { type, volatileStatus = [] }, cache, log } = this.#options;
    const live = cache.get<KubeObject & { status?: unknown }>(type, key);
    if (!live || !statusChanged(live.status, status, volatileStatus)) {
      this.#unsaid.delete(key);
      return undefined;
    }
    const unsaid = this.#unsaid.get(key);
    if (unsaid && this.#isHeld(unsaid)) return unsaid.retryAt;
    try {
      await this.#applyStatus(live, status);
      this.#unsaid.delete(key);
      return undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined; // deleted meanwhile: nobody reads it any more
      if (!passes(error)) throw error;
      const { clock, random = Math.random } = this.#options;
      const at = clock.now(), tries = (unsaid?.tries ?? 0) + 1;
      log.warn("the status could not be written", { key, tries, error });
      const retryAt = clusterRetryAt(error, { now: at, tries, random: random() });
      this.#unsaid.set(key, { tries, at, retryAt });
      return retryAt;
    }
  }

  async #applyStatus(live: KubeObject & { status?: unknown }, status: unknown): Promise<void> {
    const { controller: { type }, client, cache } = this.#options;
    const { name, namespace, uid } = live.metadata;
    const object: KubeObject & { status: unknown } = {
      apiVersion: apiVersionOf(type),
      kind: type.kind,
      // With the uid it is never said of another object of that name.
      metadata: { name, ...(namespace ? { namespace } : {}), ...(uid ? { uid } : {}) },
      status,
    };
    const written = await client.apply(type, object, {
      fieldManager: this.#fieldManager,
      force: true,
      subresource: "status",
    });
    cache.took(type, written);
    this.#tell(live, written);
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

/** May the next try fare better? */
function passes(error: unknown): boolean {
  return error instanceof KubeApiError || error instanceof KubeConnectionError ||
    error instanceof NotLeaderError;
}

/** A hash, since actions may hold what should not lie around. */
function digestOf(action: Action): string {
  return shortHash(action, 16);
}

function readyCondition(status: unknown): Condition | undefined {
  const conditions = (status as { conditions?: Condition[] } | undefined)?.conditions;
  return conditions?.find(({ type }) => type === "Ready");
}
