/**
 * Waiting for a while.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** How long to wait at most. */
export interface Patience {
  readonly clock: Clock;
  /** For ever where it is absent. */
  readonly ms?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/**
 * Waits for the promise; false when time was over or the signal aborted before. No
 * timer is left behind.
 */
export async function within(
  promise: Promise<unknown>,
  { clock, ms, signal }: Patience,
): Promise<boolean> {
  const over = Promise.withResolvers<false>();
  const end = () => over.resolve(false);
  const cancel = ms === undefined ? undefined : clock.setTimer(end, ms);
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  try {
    return await Promise.race([promise.then(() => true), over.promise]);
  } finally {
    cancel?.();
    signal?.removeEventListener("abort", end);
  }
}
