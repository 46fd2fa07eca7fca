/**
 * A rate limiter for each tailnet, which outlives its clients: a new credential
 * gives no right to call more.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { RateLimiter } from "../tailscale/limiter.ts";

/** A limiter that nobody used for so long is as good as a new one. */
const FORGET_AFTER_MS = 10 * 60_000;

interface Kept {
  readonly limiter: RateLimiter;
  /** When its tailnet was closed; undefined while it is open. */
  releasedAt?: number | undefined;
}

/** Keeps limiters by the name of the TailscaleTailnet. */
export class Limiters {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The tailnet's limiter. */
  of(name: string): RateLimiter {
    this.#prune();
    const kept = this.#kept.get(name) ?? { limiter: new RateLimiter({ clock: this.#clock }) };
    kept.releasedAt = undefined;
    this.#kept.set(name, kept);
    return kept.limiter;
  }

  /** The tailnet is closed; it may come back before the limiter has rested. */
  release(name: string): void {
    const kept = this.#kept.get(name);
    if (kept) kept.releasedAt = this.#clock.now();
    this.#prune();
  }

  /** How many are kept. */
  get size(): number {
    return this.#kept.size;
  }

  #prune(): void {
    const now = this.#clock.now();
    for (const [name, { limiter, releasedAt }] of this.#kept) {
      const rested = releasedAt !== undefined && now - releasedAt > FORGET_AFTER_MS;
      if (rested && limiter.pausedMs === 0) this.#kept.delete(name);
    }
  }
}
