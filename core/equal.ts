/**
 * Equality of JSON values.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util";

/** Are both the same JSON value? The order of an object's members does not matter. */
export function deepEqual(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b);
}
