/**
 * What the hooks did: totals since the start, and the last minutes.
 *
 * @module
 */

/** One finished hook call. */
export interface HookCall {
  readonly hook: string;
  readonly durationMs: number;
  /** Why it failed; absent when it did not. */
  readonly error?: unknown;
}

/** Totals of hook calls. Durations in milliseconds. */
export interface HookTotals {
  readonly totalHookCalls: number;
  readonly successfulCalls: number;
  readonly failedCalls: number;
  readonly lastCallDuration: number;
  readonly averageCallDuration: number;
}

/** {@linkcode HookTotals}, over all and by hook. */
export interface HookReport extends HookTotals {
  readonly hookTypeMetrics: Readonly<Record<string, HookTotals>>;
}

/** How far back {@linkcode HookStats.recent} looks, in minutes. */
export const RECENT_MINUTES = 5;

class Totals {
  calls = 0;
  failed = 0;
  lastMs = 0;
  sumMs = 0;

  add(call: HookCall): void {
    this.calls++;
    if (call.error !== undefined) this.failed++;
    this.lastMs = call.durationMs;
    this.sumMs += call.durationMs;
  }

  report(): HookTotals {
    return {
      totalHookCalls: this.calls,
      successfulCalls: this.calls - this.failed,
      failedCalls: this.failed,
      lastCallDuration: this.lastMs,
      averageCallDuration: this.calls === 0 ? 0 : this.sumMs / this.calls,
    };
  }
}

interface Minute {
  minute: number;
  calls: number;
  failed: number;
}

/** Counts hook calls. */
export class HookStats {
  readonly #all = new Totals();
  readonly #byHook: Map<string, Totals>;
  #minutes: Minute[] = [];

  /** @param hooks The hooks to report even before their first call. */
  constructor(hooks: readonly string[]) {
    this.#byHook = new Map(hooks.map((hook) => [hook, new Totals()]));
  }

  /** Counts a call that ended at `now`, ms since the epoch. */
  add(call: HookCall, now: number): void {
    const ofHook = this.#byHook.get(call.hook) ?? new Totals();
    this.#byHook.set(call.hook, ofHook);
    for (const totals of [this.#all, ofHook]) totals.add(call);
    const minute = this.#minute(now);
    minute.calls++;
    if (call.error !== undefined) minute.failed++;
  }

  /** Calls of the last {@linkcode RECENT_MINUTES}, the running minute included. */
  recent(now: number): { calls: number; failed: number } {
    const since = Math.floor(now / 60_000) - RECENT_MINUTES;
    const minutes = this.#minutes.filter((entry) => entry.minute > since);
    return {
      calls: minutes.reduce((sum, entry) => sum + entry.calls, 0),
      failed: minutes.reduce((sum, entry) => sum + entry.failed, 0),
    };
  }

  /** Totals since the start. */
  report(): HookReport {
    const byHook = [...this.#byHook].map(([hook, totals]) => [hook, totals.report()] as const);
    return { ...this.#all.report(), hookTypeMetrics: Object.fromEntries(byHook) };
  }

  #minute(now: number): Minute {
    const minute = Math.floor(now / 60_000);
    const last = this.#minutes.at(-1);
    if (last?.minute === minute) return last;
    const fresh = { minute, calls: 0, failed: 0 };
    this.#minutes = [...this.#minutes, fresh].slice(-RECENT_MINUTES);
    return fresh;
  }
}
