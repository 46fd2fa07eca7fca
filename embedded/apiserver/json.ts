/**
 * JSON values, and the few things that every part of the server does to them.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | JsonMap;
/** A JSON object. */
export type JsonMap = { [key: string]: Json };

/** Is it a JSON object (and neither null nor a list)? */
export function isMap(value: unknown): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object as plain JSON; the same reference. */
export function fields(object: KubeObject): JsonMap {
  return object as unknown as JsonMap;
}

/** JSON as an object; the caller has checked apiVersion, kind and metadata. */
export function asObject(map: JsonMap): KubeObject {
  return map as unknown as KubeObject;
}

/** The member of that name when it is a JSON object. */
export function mapAt(map: JsonMap | undefined, key: string): JsonMap | undefined {
  const value = map?.[key];
  return isMap(value) ? value : undefined;
}

/** The member that a path of names leads to. */
export function valueAt(map: JsonMap, path: readonly string[]): Json | undefined {
  let value: Json | undefined = map;
  for (const name of path) value = isMap(value) ? value[name] : undefined;
  return value;
}

/** A deep copy. */
export function clone<T>(value: T): T {
  return structuredClone(value);
}

/** Deep equality of JSON; the order of members does not count, that of lists does. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  if (!isMap(a) || !isMap(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equal(a[name], b[name]));
}

/** Freezes it and all below, so that a shared object cannot be changed by mistake. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}

/** A copy without members that are null, at any depth; nulls within lists stay. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isMap(value)) return value;
  const result: JsonMap = {};
  for (const [name, item] of Object.entries(value)) {
    if (item !== null) setMember(result, name, withoutNulls(item));
  }
  return result;
}

/** Where members are null, as `spec.list[0].name`; nulls within lists are no members. */
export function nullPaths(value: Json, at = ""): string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, i) => item === null ? [] : nullPaths(item, `${at}[${i}]`));
  }
  if (value === null) return [at];
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    nullPaths(item, at === "" ? name : `${at}.${name}`)
  );
}

/** Sets a member; unlike assignment it makes `__proto__` an ordinary name. */
export function setMember(map: JsonMap, name: string, value: Json): void {
  if (name === "__proto__") {
    Object.defineProperty(map, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else map[name] = value;
}

/** JSON with sorted member names: equal values give equal text. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isMap(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort().map((name) =>
    `${JSON.stringify(name)}:${canonical(value[name] ?? null)}`
  );
  return `{${members.join(",")}}`;
}

/** Sets members that are missing. */
export function fallback(map: JsonMap, values: JsonMap): void {
  for (const [name, value] of Object.entries(values)) map[name] ??= clone(value);
}

/** The objects in a list; none when it is no list. */
export function mapsIn(value: Json | undefined): JsonMap[] {
  return Array.isArray(value) ? value.filter(isMap) : [];
}
