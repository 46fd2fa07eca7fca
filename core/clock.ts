/**
 * Time as a parameter, so that tests and the simulator own it. This file holds
 * no clock: the real one is in `telemetry/clock.ts`.
 *
 * @module
 */

/** A source of time and of timers. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Calls `fn` once after `ms` milliseconds; the returned function cancels it. */
  setTimer(fn: () => void, ms: number): () => void;
}

/**
 * Resolves after `ms` milliseconds of the clock, or rejects with the signal's
 * reason when it aborts first.
 */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.setTimer(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
