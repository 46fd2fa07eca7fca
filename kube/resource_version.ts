/**
 * The order of resourceVersions.
 *
 * @module
 */

const DECIMAL = /^(0|[1-9][0-9]*)$/;

/**
 * Compares two resourceVersions of one resource: negative when `a` is older, 0 when
 * equal, positive when newer; undefined where they have no order. Kubernetes promises
 * that they are decimal numbers in order from 1.35 on (KEP-5504), and has kept to it
 * before; other servers may not.
 *
 * @example
 * ```ts
 * import { compareResourceVersions } from "./resource_version.ts";
 * compareResourceVersions("999", "1000"); // negative
 * ```
 */
export function compareResourceVersions(
  a: string | undefined,
  b: string | undefined,
): number | undefined {
  if (a === b) return a === undefined ? undefined : 0;
  if (a === undefined || b === undefined || !DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  // Without leading zeros the longer one is the greater one: no need for BigInt.
  return a.length - b.length || (a < b ? -1 : 1);
}

/** Whether `a` is surely older than `b`. */
export function isOlder(a: string | undefined, b: string | undefined): boolean {
  return (compareResourceVersions(a, b) ?? 0) < 0;
}
