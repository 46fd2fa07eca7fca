/**
 * How long to wait after failures.
 *
 * @module
 */

/** The bounds of a backoff, in milliseconds. */
export interface BackoffLimits {
  /** Wait after the first failure. */
  readonly baseMs: number;
  /** The longest wait. */
  readonly maxMs: number;
}

/**
 * The wait after the `failures`-th failure in a row: doubled each time, capped, and
 * jittered over its upper half so that many clients don't come back in step.
 *
 * @param random a number in [0, 1)
 */
export function backoffMs(limits: BackoffLimits, failures: number, random: number): number {
  const exponent = Math.min(Math.max(failures, 1) - 1, 30);
  const full = Math.min(limits.baseMs * 2 ** exponent, limits.maxMs);
  return Math.round(full * (0.5 + random / 2));
}
