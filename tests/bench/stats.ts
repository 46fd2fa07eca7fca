/**
 * Numbers out of many numbers.
 *
 * @module
 */

/**
 * The value below which that share of the values lies: the nearest one, never one
 * in between.
 *
 * @param share From 0 to 1.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1));
  const value = sorted[at];
  if (value === undefined) throw new RangeError("there are no values to take a quantile of");
  return value;
}

/** The middle value; the lower one of two. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A ratio with the middle half of its values. */
export interface Ratio {
  readonly median: number;
  readonly q1: number;
  readonly q3: number;
}

/**
 * The ratio of two programs that were measured in turns. Taken round by round, so
 * that what else the machine does weighs on both.
 */
export function ratioOf(ours: readonly number[], reference: readonly number[]): Ratio {
  const ratios = ours.flatMap((value, round) => {
    const other = reference[round];
    return other === undefined ? [] : [value / other];
  });
  return { median: median(ratios), q1: quantile(ratios, 0.25), q3: quantile(ratios, 0.75) };
}

/** By how much y grows when x grows by one, by least squares. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / points.length;
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
