/**
 * A client-side limit on calls to one tailnet's API, since Tailscale publishes no
 * numbers of its own.
 *
 * @module
 */
import { type Clock, sleep } from "../core/clock.ts";
import { RateLimited } from "./errors.ts";

export interface RateLimiterOptions {
  readonly clock: Clock;
  /** Calls that may go at once. @default 10 */
  readonly burst?: number;
  /** Calls per second after that. @default 1 */
  readonly perSecond?: number;
  /** A call that would wait longer is refused instead. @default 60_000 */
  readonly maxWaitMs?: number;
}

/**
 * A token bucket, first come first served, that a server's `Retry-After` can
 * close for a while.
 */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  readonly #burstMs: number;
  readonly #maxWaitMs: number;
  /** When the bucket would be full again (the "theoretical arrival time" of GCRA). */
  #fullAt = 0;
  #pause: { from: number; ms: number } | undefined;

  constructor({ clock, burst = 10, perSecond = 1, maxWaitMs = 60_000 }: RateLimiterOptions) {
    this.#clock = clock;
    this.#intervalMs = 1000 / perSecond;
    this.#burstMs = (burst - 1) * this.#intervalMs;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Resolves when a call may go.
   *
   * @param what The call, for the error.
   * @throws {RateLimited} when the bucket is closed or the wait would be too long.
   */
  async acquire(what: string, signal?: AbortSignal): Promise<void> {
    this.#refuseWhilePaused(what);
    const waitMs = this.#reserve(what);
    if (waitMs <= 0) return;
    await sleep(this.#clock, waitMs, signal);
    this.#refuseWhilePaused(what);
  }

  /** Refuses every call for the next `ms` milliseconds. */
  pause(ms: number): void {
    if (ms > this.pausedMs) this.#pause = { from: this.#clock.now(), ms };
  }

  /** How long calls are still refused; 0 when they are not. */
  get pausedMs(): number {
    if (!this.#pause) return 0;
    const now = this.#clock.now();
    // Set back, the clock must not prolong a pause by the size of its jump.
    if (now < this.#pause.from) this.#pause = { ...this.#pause, from: now };
    return Math.max(0, this.#pause.from + this.#pause.ms - now);
  }

  #refuseWhilePaused(what: string): void {
    const retryAfterMs = this.pausedMs;
    if (retryAfterMs === 0) return;
    throw new RateLimited(
      `not sent: Tailscale asked for no calls for another ${seconds(retryAfterMs)}`,
      { what, retryAfterMs },
    );
  }

  #reserve(what: string): number {
    const now = this.#clock.now();
    const latest = now + this.#burstMs + this.#maxWaitMs + this.#intervalMs;
    // Later than any reservation made here can be: the clock was set back.
    if (this.#fullAt > latest) this.#fullAt = now + this.#burstMs;
    const waitMs = Math.max(0, this.#fullAt - this.#burstMs - now);
    if (waitMs > this.#maxWaitMs) {
      throw new RateLimited(
        `not sent: more calls wait for this tailnet than ${seconds(this.#maxWaitMs)} allow`,
        { what, retryAfterMs: waitMs },
      );
    }
    this.#fullAt = Math.max(this.#fullAt, now) + this.#intervalMs;
    return waitMs;
  }
}

function seconds(ms: number): string {
  return `${Math.ceil(ms / 1000)} s`;
}
