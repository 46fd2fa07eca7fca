/**
 * Does server-side apply change anything?
 *
 * @module
 */
import type { KubeObject } from "../core/object.ts";
import { isAbsent, isRecord, sameJson } from "./json.ts";
import {
  below,
  type FieldSet,
  itemId,
  type OwnedItems,
  ownedItems,
  ownershipOf,
} from "./managed_fields.ts";
import { sameQuantity } from "./quantity.ts";
import { type FieldPath, isMap, isQuantity, type ListKind, listKind } from "./schema_facts.ts";

/** Where a comparison stands. */
interface Place {
  readonly kind: string;
  readonly path: FieldPath;
  /** What we own here; undefined where we own nothing. */
  readonly owned: FieldSet | undefined;
  /** Whether `owned` can be relied on: not without managedFields, nor within an atomic value. */
  readonly tracked: boolean;
}

const APPLIED_METADATA = ["labels", "annotations", "ownerReferences", "finalizers"] as const;

/**
 * Whether applying `desired` as `fieldManager` would change the live object: a field of
 * `desired` is missing there or differs, or the manager owns a field that `desired` no longer
 * has, or does not own what it applies. What others have added, and what the API server fills
 * in, does not count; nor does the status, which has its own writer.
 *
 * Reads `live.metadata.managedFields` (see {@linkcode keepManagers}). Without them only the
 * values are compared, and a field that was dropped from `desired` is not noticed.
 *
 * @throws {TypeError} for a Secret with `stringData`, which the API server does not give back
 *
 * @example
 * ```ts
 * import { needsApply } from "./apply.ts";
 * const desired = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { k: "v" } };
 * needsApply(undefined, desired, "me"); // true
 * ```
 */
export function needsApply(
  live: KubeObject | undefined,
  desired: KubeObject,
  fieldManager: string,
): boolean {
  if (live === undefined) return true;
  const owner = ownershipOf(live, fieldManager);
  if (owner === undefined) return true;
  const wanted = appliedPart(desired);
  const { kind } = desired;
  if (owner === "unknown") {
    return differs(wanted, live, { kind, path: [], owned: undefined, tracked: false });
  }
  if (owner.apiVersion !== undefined && owner.apiVersion !== desired.apiVersion) return true;
  const owned = withoutStatus(owner.fields);
  return differs(wanted, live, { kind, path: [], owned, tracked: true }) || ownsMore(owned, wanted);
}

/** The fields that an apply can own. */
function appliedPart(desired: KubeObject): Record<string, unknown> {
  const { apiVersion: _version, kind, metadata, status: _status, ...rest } = desired as
    & KubeObject
    & { status?: unknown };
  if (kind === "Secret" && "stringData" in rest) {
    throw new TypeError(
      `Secret ${metadata.namespace}/${metadata.name} has stringData, which can't be read back: ` +
        "put base64 text in data",
    );
  }
  const kept = APPLIED_METADATA.filter((field) => !isAbsent(metadata[field]));
  if (kept.length === 0) return rest;
  return { ...rest, metadata: Object.fromEntries(kept.map((field) => [field, metadata[field]])) };
}

function withoutStatus(fields: FieldSet): FieldSet {
  const { "f:status": _status, ...rest } = fields;
  return rest;
}

/** Whether something that we want is not so. */
function differs(want: unknown, have: unknown, place: Place): boolean {
  if (isAbsent(want)) return false;
  if (isAbsent(have)) return !isDropped(want, place);
  if (Array.isArray(want)) return !Array.isArray(have) || listDiffers(want, have, place);
  if (isRecord(want)) return !isRecord(have) || mapDiffers(want, have, place);
  return isQuantity(place.path) ? !sameQuantity(want, have) : want !== have;
}

/**
 * Whether a value that is not there is one that the API server leaves out because it is
 * empty. Ownership tells; without it, what Go's `omitempty` does.
 */
function isDropped(want: unknown, place: Place): boolean {
  if (Array.isArray(want) ? want.length > 0 : isRecord(want) && !isEmptyRecord(want)) return false;
  if (!Array.isArray(want) && !isRecord(want) && want) return false;
  if (place.tracked) return place.owned !== undefined;
  return !isRecord(want) || isMap(place.path);
}

function mapDiffers(
  want: Readonly<Record<string, unknown>>,
  have: Readonly<Record<string, unknown>>,
  place: Place,
): boolean {
  if (isLost(place)) return !isEmptyRecord(want);
  const inside = within(place);
  return Object.entries(want).some(([name, value]) =>
    differs(value, have[name], {
      ...inside,
      path: [...place.path, name],
      owned: below(inside.owned, `f:${name}`),
    })
  );
}

function listDiffers(want: readonly unknown[], have: readonly unknown[], place: Place): boolean {
  if (isLost(place)) return want.length > 0;
  const owned = ownedItems(place.owned ?? {});
  const shape = shapeOf(owned, place);
  if (shape === "set") return !want.every((value) => have.some((other) => sameJson(value, other)));
  if (shape === undefined) {
    const inside: Place = { ...place, owned: undefined, tracked: false };
    return want.length !== have.length || want.some((item, i) => differs(item, have[i], inside));
  }
  const byId = new Map(have.map((item) => [itemId(item, shape.keys), item]));
  return want.some((item) => {
    const id = itemId(item, shape.keys);
    return differs(item, byId.get(id), { ...place, owned: owned.items.get(id) });
  });
}

/** What kind of list this is: managedFields know, else it is a well-known one, else atomic. */
function shapeOf(owned: OwnedItems, place: Place): ListKind {
  if (owned.keys.length > 0) return { keys: owned.keys };
  if (owned.values.length > 0) return "set";
  // Owned as a whole.
  if (place.tracked && place.owned !== undefined) return undefined;
  return listKind(place.kind, place.path);
}

/**
 * A value of several fields that we apply, and of which we own nothing: another writer has
 * replaced it, be it by one that holds what we want and more.
 */
function isLost(place: Place): boolean {
  return place.tracked && place.owned === undefined;
}

/** Below a map that is owned as a whole (atomic) there is nothing to track. */
function within(place: Place): Place {
  const whole = place.path.length > 0 && place.owned !== undefined && isEmptyRecord(place.owned);
  return whole ? { ...place, owned: undefined, tracked: false } : place;
}

/** Whether we own something that is no longer wanted. */
function ownsMore(owned: FieldSet, want: unknown): boolean {
  const names = Object.keys(owned).filter((element) => element.startsWith("f:"));
  const fieldGone = names.some((element) => {
    const value = isRecord(want) ? want[element.slice(2)] : undefined;
    return isAbsent(value) || ownsMore(below(owned, element) ?? {}, value);
  });
  return fieldGone || ownsMoreItems(ownedItems(owned), want);
}

function ownsMoreItems({ keys, items, values }: OwnedItems, want: unknown): boolean {
  if (items.size === 0 && values.length === 0) return false;
  if (!Array.isArray(want)) return true;
  const byId = new Map(want.map((item) => [itemId(item, keys), item]));
  for (const [id, set] of items) {
    if (!byId.has(id) || ownsMore(set, byId.get(id))) return true;
  }
  return values.some((text) => !want.some((value) => sameJson(value, JSON.parse(text))));
}

function isEmptyRecord(value: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(value).length === 0;
}
