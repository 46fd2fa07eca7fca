/**
 * A brake for objects that are written again and again, such as where two writers
 * fight: a fault, here or elsewhere, that must not flood the API server.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";

/** Runs of one key that may follow each other at once. */
const BURST = 30;
/** One more run each so many milliseconds. */
const INTERVAL_MS = 1_000;

/** Counts, by key, the runs that wrote. */
export class Brake {
  readonly #clock: Pick<Clock, "now">;
  /** By key, when the burst is whole again. */
  readonly #wholeAt = new Map<string, number>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** How long a run that writes has to wait; 0 mostly. */
  waitMs(key: string): number {
    const now = this.#clock.now();
    const wholeAt = this.#wholeAt.get(key) ?? now;
    const wait = wholeAt - now - (BURST - 1) * INTERVAL_MS;
    if (wait <= 2 * INTERVAL_MS) return Math.min(Math.max(0, wait), INTERVAL_MS);
    // A clock that was set back must not hold a key for as long as it jumped.
    this.#wholeAt.delete(key);
    return 0;
  }

  /** A run of the key wrote something. */
  spend(key: string): void {
    const now = this.#clock.now();
    const wholeAt = this.#wholeAt.get(key) ?? now;
    this.#wholeAt.set(
      key,
      Math.min(Math.max(wholeAt, now), now + BURST * INTERVAL_MS) + INTERVAL_MS,
    );
  }

  /** The key is gone. */
  forget(key: string): void {
    this.#wholeAt.delete(key);
  }
}
