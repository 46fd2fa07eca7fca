/**
 * Is the operator ready, and is it as well as it should be? Pure: what is looked
 * at comes in as data.
 *
 * @module
 */

/** What `/health` and `/ready` answer from. Reasons are sentences for people. */
export interface HealthReport {
  /** Why it cannot serve yet; empty when it can. */
  readonly notReady: readonly string[];
  /** Why it serves less well than it should; empty when all is well. */
  readonly degraded: readonly string[];
}

/** One word for a {@linkcode HealthReport}. */
export type HealthStatus = "ok" | "degraded" | "not-ready";

/** The worst that the report says. */
export function healthStatus(report: HealthReport): HealthStatus {
  if (report.notReady.length > 0) return "not-ready";
  return report.degraded.length > 0 ? "degraded" : "ok";
}

/** Share of failed hook calls above which the operator is degraded. */
export const MAX_FAILURE_RATE = 0.1;
/** How long a cache may lag behind the events that it should have taken in, ms. */
export const MAX_CACHE_LAG_MS = 10 * 60_000;

/** What {@linkcode degradation} looks at. */
export interface DegradationInput {
  /** Hook calls of the last minutes ({@linkcode HookStats.recent}). */
  readonly hooks: { readonly calls: number; readonly failed: number };
  /** Caches by the name that the reason says, such as `config` or `route index`. */
  readonly caches: Readonly<Record<string, Pick<Freshness, "lagMs">>>;
}

/** Every reason why the operator is degraded at that time. */
export function degradation(input: DegradationInput, now: number): string[] {
  const reasons: string[] = [];
  const { calls, failed } = input.hooks;
  if (calls > 0 && failed / calls > MAX_FAILURE_RATE) {
    reasons.push(
      `${failed} of the last ${calls} hook calls failed: Envoy keeps its last configuration; ` +
        "see the log's hook errors",
    );
  }
  for (const [name, cache] of Object.entries(input.caches)) {
    const lag = cache.lagMs(now);
    if (lag <= MAX_CACHE_LAG_MS) continue;
    reasons.push(
      `the ${name} cache has not taken in events for ${Math.floor(lag / 60_000)} min: ` +
        "see the log for what stops it, or restart this replica",
    );
  }
  return reasons;
}

/**
 * How far a cache lags behind events. A cache that is old because nothing happens
 * is fresh; one that does not follow events is not.
 */
export class Freshness {
  #updatedAt: number | undefined;
  #pendingSince: number | undefined;

  /** An event came that the cache has yet to take in. */
  event(at: number): void {
    this.#pendingSince ??= at;
  }

  /** The cache was brought up to date. */
  updated(at: number): void {
    this.#updatedAt = at;
    this.#pendingSince = undefined;
  }

  /** When the cache was last brought up to date, ms since the epoch. */
  get updatedAt(): number | undefined {
    return this.#updatedAt;
  }

  /** Age of the oldest event that is not taken in, ms; 0 when there is none. */
  lagMs(now: number): number {
    return this.#pendingSince === undefined ? 0 : Math.max(0, now - this.#pendingSince);
  }
}
