/**
 * Durations as the Gateway API writes them (GEP-2257): `1h30m`, `500ms`.
 *
 * @module
 */

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** Milliseconds, or undefined for a text that is no duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^([0-9]{1,5}(h|m|s|ms)){1,4}$/.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(/([0-9]+)(ms|h|m|s)/g)) {
    total += Number(number) * (UNITS[unit ?? ""] ?? 0);
  }
  return total;
}
