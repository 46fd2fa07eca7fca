/**
 * Who owns which field: `metadata.managedFields`.
 *
 * Format: https://kubernetes.io/docs/reference/using-api/server-side-apply/ and the
 * `fieldpath` package of sigs.k8s.io/structured-merge-diff.
 *
 * @module
 */
import type { KubeObject } from "../object.ts";
import { isRecord } from "./json.ts";
import { mergeKeyOf } from "./schema_facts.ts";

/**
 * A set of fields as `fieldsV1` has it: `f:<name>` is a field, `k:<keys>` an item of a list
 * by its merge keys, `v:<value>` an item of a set, `i:<n>` one by its place, `.` the thing itself.
 */
export type FieldSet = { readonly [element: string]: unknown };

/** What one manager owns of an object. */
export interface Ownership {
  /** The version whose field names the set uses. */
  readonly apiVersion?: string;
  readonly fields: FieldSet;
}

/**
 * What a manager owns by server-side apply, status aside: `"unknown"` where the object
 * carries no managedFields at all, undefined where the manager owns nothing.
 */
export function ownershipOf(
  object: KubeObject,
  manager: string,
): Ownership | "unknown" | undefined {
  const entries = object.metadata.managedFields ?? [];
  if (entries.length === 0) return "unknown";
  const entry = entries.find((e) =>
    e.manager === manager && e.operation === "Apply" && !e.subresource
  );
  if (!entry) return undefined;
  const fields = entry.fieldsV1 ?? {};
  return entry.apiVersion === undefined ? { fields } : { apiVersion: entry.apiVersion, fields };
}

/** The set below one element; undefined where the element is not in the set. */
export function below(set: FieldSet | undefined, element: string): FieldSet | undefined {
  const child = set?.[element];
  return isRecord(child) ? child : undefined;
}

/** The elements of a list that a set names, by kind. */
export interface OwnedItems {
  /** Names of the merge keys; empty where no item is owned by keys. */
  readonly keys: readonly string[];
  /** The sets of owned items, by {@linkcode itemId}. */
  readonly items: ReadonlyMap<string, FieldSet>;
  /** Owned values of a set, as JSON. */
  readonly values: readonly string[];
}

/** Reads the elements of a list. */
export function ownedItems(set: FieldSet): OwnedItems {
  const items = new Map<string, FieldSet>();
  const values: string[] = [];
  let keys: readonly string[] = [];
  for (const element of Object.keys(set)) {
    if (element.startsWith("v:")) values.push(element.slice(2));
    if (!element.startsWith("k:")) continue;
    const item: unknown = JSON.parse(element.slice(2));
    if (!isRecord(item)) continue;
    keys = Object.keys(item).sort();
    items.set(itemId(item, keys), below(set, element) ?? {});
  }
  return { keys, items, values };
}

/** Tells items of a list of maps apart by their merge keys. */
export function itemId(item: unknown, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => isRecord(item) ? mergeKeyOf(item, key) ?? null : null));
}

/**
 * The object with the managedFields of these managers only, which is what
 * {@linkcode needsApply} needs; the others' take most of an object's memory.
 *
 * @example
 * ```ts
 * import { keepManagers } from "./managed_fields.ts";
 * const trim = keepManagers(["tailscale-gateway"]);
 * ```
 */
export function keepManagers<T extends KubeObject>(managers: readonly string[]): (object: T) => T {
  return (object) => {
    const all = object.metadata.managedFields ?? [];
    if (all.length === 0) return object;
    const ours = all.filter(({ manager }) => manager !== undefined && managers.includes(manager));
    // That there are entries, and none of ours, is a fact to keep.
    const managedFields = ours.length > 0 ? ours : [{ manager: "others" }];
    return { ...object, metadata: { ...object.metadata, managedFields } };
  };
}
