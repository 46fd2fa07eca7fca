/**
 * Is a status worth writing?
 *
 * @module
 */
import { isAbsent, isRecord } from "./json.ts";

/**
 * Whether two statuses differ in more than the fields, at any depth, that are named
 * volatile: times and counts that are written only together with another change. What is
 * absent in one may be null in the other.
 *
 * @example
 * ```ts
 * import { statusChanged } from "./status.ts";
 * statusChanged({ ready: 1, lastSync: "a" }, { ready: 1, lastSync: "b" }, ["lastSync"]); // false
 * ```
 */
export function statusChanged(old: unknown, next: unknown, volatile: readonly string[]): boolean {
  if (old === next || (isAbsent(old) && isAbsent(next))) return false;
  if (Array.isArray(old) && Array.isArray(next)) {
    return old.length !== next.length ||
      next.some((item, i) => statusChanged(old[i], item, volatile));
  }
  if (!isRecord(old) || !isRecord(next)) return true;
  const names = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...names].some((name) =>
    !volatile.includes(name) && statusChanged(old[name], next[name], volatile)
  );
}
