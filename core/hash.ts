/**
 * Stable hashes of JSON values, for names and revisions (never for deciding
 * whether the world is as it should be).
 *
 * @module
 */
import { createHash } from "node:crypto";

/** JSON with the members of every object in order of their names. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, item) => {
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => a < b ? -1 : 1));
  });
}

/**
 * The first `length` hexadecimal digits of the SHA-256 of a string or of a
 * value's {@linkcode stableJson}.
 */
export function shortHash(value: unknown, length = 8): string {
  const text = typeof value === "string" ? value : stableJson(value);
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}
