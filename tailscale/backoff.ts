/**
 * How long to wait where the server does not say.
 *
 * @module
 */

/**
 * Exponential backoff in milliseconds with "equal jitter": between half of and
 * the whole of `baseMs * 2^attempt`, which is never over `maxMs`.
 *
 * @param attempt 0 for the first failure.
 * @param random A number in [0, 1).
 */
export function backoffMs(
  attempt: number,
  random: () => number,
  { baseMs = 1_000, maxMs = 60_000 }: { baseMs?: number; maxMs?: number } = {},
): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling * (0.5 + 0.5 * random()));
}
