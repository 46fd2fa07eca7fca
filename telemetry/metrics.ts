/**
 * The operator's metrics, in a registry of their own. Reconciles and queues have
 * controller-runtime's names, labels and buckets, so that dashboards made for
 * other operators work; the rest begins with `tailscale_gateway_`.
 *
 * @module
 */
import { type Gauge, Registry } from "prom-client";
import type { Clock } from "../core/clock.ts";
import { type HookCall, type HookReport, HookStats } from "./hook_stats.ts";
import { observeProcess } from "./process_metrics.ts";
import { defineSeries, gauge, OWN } from "./series.ts";

/** How a reconcile ended; controller-runtime's values of the label `result`. */
export const RECONCILE_RESULTS = ["success", "requeue_after", "requeue", "error"] as const;
/** One of {@linkcode RECONCILE_RESULTS}. */
export type ReconcileResult = typeof RECONCILE_RESULTS[number];

/** Options of {@linkcode Metrics}: every label value that is known at the start. */
export interface MetricsOptions {
  readonly clock: Clock;
  /** Names of controllers; each has a queue of the same name. */
  readonly controllers?: readonly string[];
  /** Names of hooks. */
  readonly hooks?: readonly string[];
  /** Names of watched resources, such as `httproutes`. */
  readonly resources?: readonly string[];
}

/** What one work queue reports. Times in milliseconds. */
export interface QueueMetrics {
  /** A key was added. */
  added(): void;
  /** A key was taken after it had waited so long. */
  started(waitedMs: number): void;
  /** The work on a key took so long. */
  finished(workedMs: number): void;
  /** A key was put back after a failure. */
  retried(): void;
}

/** The JSON form of `/metrics`. */
export interface MetricsReport extends HookReport {
  /** Objects in each store. */
  readonly resources: Readonly<Record<string, number>>;
  /** Ages in milliseconds. */
  readonly caches: {
    readonly watches: Readonly<Record<string, { lastEventAgeMs: number }>>;
    readonly snapshot: { version: string; rebuilds: number; ageMs: number | null };
  };
}

/** Records what happens, and gives it out as Prometheus text or as JSON. */
export class Metrics {
  /** The registry, for further metrics. */
  readonly registry = new Registry();
  readonly #clock: Clock;
  readonly #hookStats: HookStats;
  readonly #startedAt: number;
  readonly #watches = new Map<string, () => number | undefined>();
  readonly #stores = new Map<string, () => number>();
  readonly #depths = new Map<string, () => number>();
  #snapshot = { version: "", rebuilds: 0, at: undefined as number | undefined };
  readonly #series = defineSeries(this.registry);

  constructor(options: MetricsOptions) {
    this.#clock = options.clock;
    this.#startedAt = options.clock.now();
    this.#hookStats = new HookStats(options.hooks ?? []);
    this.#observeGauges();
    observeProcess(this.registry, this.#startedAt);
    for (const controller of options.controllers ?? []) this.#initController(controller);
    for (const hook of options.hooks ?? []) this.#initHook(hook);
    for (const resource of options.resources ?? []) this.watch(resource, () => undefined);
  }

  /** A reconcile ended. `terminal`: it failed and is not tried again. */
  reconciled(
    controller: string,
    result: ReconcileResult | "terminal",
    durationMs: number,
  ): void {
    const failed = result === "error" || result === "terminal";
    this.#series.reconciles.inc({ controller, result: failed ? "error" : result });
    if (failed) this.#series.reconcileErrors.inc({ controller });
    if (result === "terminal") this.#series.terminalErrors.inc({ controller });
    this.#series.reconcileTime.observe({ controller }, durationMs / 1000);
  }

  /** The metrics of a work queue; `depth` says how many keys wait. */
  queue(name: string, depth: () => number): QueueMetrics {
    this.#depths.set(name, depth);
    this.#initQueue(name);
    return {
      added: () => this.#series.queueAdds.inc({ name }),
      started: (waitedMs) => this.#series.queueWait.observe({ name }, waitedMs / 1000),
      finished: (workedMs) => this.#series.queueWork.observe({ name }, workedMs / 1000),
      retried: () => this.#series.queueRetries.inc({ name }),
    };
  }

  /** The Tailscale API answered with that status, or did not answer. */
  tailscaleRequest(tailnet: string, code: number | "error"): void {
    this.#series.tailscaleRequests.inc({ tailnet, code: String(code) });
  }

  /** A hook call ended. */
  hookCalled(call: HookCall): void {
    const now = this.#clock.now();
    this.#hookStats.add(call, now);
    const result = call.error === undefined ? "success" : "error";
    this.#series.hookCalls.inc({ hook: call.hook, result });
    this.#series.hookTime.observe({ hook: call.hook }, call.durationMs / 1000);
    this.#series.lastHookCall.set(now / 1000);
  }

  /** Hook calls of the last minutes, for health. */
  recentHookCalls(): { calls: number; failed: number } {
    return this.#hookStats.recent(this.#clock.now());
  }

  /** A snapshot was built; its version may be the one before. */
  snapshotBuilt(version: string): void {
    this.#series.rebuilds.inc();
    this.#series.snapshotInfo.reset(); // one version at a time
    this.#series.snapshotInfo.set({ version }, 1);
    this.#snapshot = { version, rebuilds: this.#snapshot.rebuilds + 1, at: this.#clock.now() };
  }

  /**
   * Reports a watch at each scrape. `lastEventAt`: when it last showed a sign of life
   * (an event or a bookmark), ms since the epoch; undefined or 0 for not yet.
   */
  watch(resource: string, lastEventAt: () => number | undefined): void {
    this.#watches.set(resource, lastEventAt);
  }

  /** Reports at each scrape whether this replica leads, by client-go's name. */
  leadership(name: string, leads: () => boolean): void {
    gauge(this.registry, "leader_election_master_status", {
      help: "1 where this replica leads, 0 where it follows another one.",
      labels: ["name"],
      collect: (g) => g.set({ name }, leads() ? 1 : 0),
    });
  }

  /** Reports the size of a store at each scrape. */
  store(resource: string, size: () => number): void {
    this.#stores.set(resource, size);
  }

  /** Clusters of no known name were seen. */
  unknownClusterNames(count: number): void {
    this.#series.unknownClusters.inc(count);
  }

  /** Prometheus's text format, and its content type. */
  async text(): Promise<{ body: string; contentType: string }> {
    return { body: await this.registry.metrics(), contentType: this.registry.contentType };
  }

  /** The same as one JSON object. */
  report(): MetricsReport {
    const now = this.#clock.now();
    const { version, rebuilds, at } = this.#snapshot;
    const watches = this.#eventAges().map(([resource, ms]) => [resource, { lastEventAgeMs: ms }]);
    return {
      ...this.#hookStats.report(),
      resources: Object.fromEntries([...this.#stores].map(([name, size]) => [name, size()])),
      caches: {
        watches: Object.fromEntries(watches),
        snapshot: { version, rebuilds, ageMs: at === undefined ? null : Math.max(0, now - at) },
      },
    };
  }

  #initController(controller: string): void {
    for (const result of RECONCILE_RESULTS) this.#series.reconciles.inc({ controller, result }, 0);
    this.#series.reconcileErrors.inc({ controller }, 0);
    this.#series.terminalErrors.inc({ controller }, 0);
    this.#series.reconcileTime.zero({ controller });
    this.#depths.set(controller, () => 0);
    this.#initQueue(controller);
  }

  #initQueue(name: string): void {
    this.#series.queueAdds.inc({ name }, 0);
    this.#series.queueRetries.inc({ name }, 0);
    this.#series.queueWait.zero({ name });
    this.#series.queueWork.zero({ name });
  }

  #initHook(hook: string): void {
    for (const result of ["success", "error"]) this.#series.hookCalls.inc({ hook, result }, 0);
    this.#series.hookTime.zero({ hook });
  }

  #observeGauges(): void {
    const collect = (g: Gauge, label: string, values: Iterable<[string, number]>) => {
      for (const [key, value] of values) g.set({ [label]: key }, value);
    };
    const sizes = (map: Map<string, () => number>) =>
      [...map].map(([name, size]): [string, number] => [name, size()]);
    gauge(this.registry, "workqueue_depth", {
      help: "Keys that wait, by queue.",
      labels: ["name"],
      collect: (g) => collect(g, "name", sizes(this.#depths)),
    });
    gauge(this.registry, `${OWN}cached_objects`, {
      help: "Objects in the store of a resource.",
      labels: ["resource"],
      collect: (g) => collect(g, "resource", sizes(this.#stores)),
    });
    gauge(this.registry, `${OWN}watch_last_event_age_seconds`, {
      help: "Time since a watch last showed a sign of life (or since the start).",
      labels: ["resource"],
      collect: (g) => {
        for (const [resource, ms] of this.#eventAges()) g.set({ resource }, ms / 1000);
      },
    });
  }

  /** Ages in ms; from the start on, so that a watch that never comes up shows too. */
  #eventAges(): [string, number][] {
    const now = this.#clock.now();
    return [...this.#watches].map(([resource, lastEventAt]) => [
      resource,
      Math.max(0, now - Math.max(lastEventAt() ?? 0, this.#startedAt)),
    ]);
  }
}
