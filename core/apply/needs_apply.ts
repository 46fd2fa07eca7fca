/**
 * Does server-side apply change anything?
 *
 * @module
 */
import type { KubeObject } from "../object.ts";
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
import {
  type FieldPath,
  isDefault,
  isMap,
  isQuantity,
  isSelector,
  type ListKind,
  listKind,
} from "./schema_facts.ts";

/** Where a comparison stands. */
interface Place {
  readonly kind: string;
  readonly path: FieldPath;
  /** What we own here; undefined where we own nothing. */
  readonly owned: FieldSet | undefined;
  /** What is known of who owns it. */
  readonly mode: Mode;
}

type Mode =
  /** `owned` says. */
  | "tracked"
  /** Within a value that is ours as a whole: nobody else adds to it, only the API server's defaults do. */
  | "atomic"
  /** Nothing: there are no managedFields. */
  | "untracked";

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
 * import { needsApply } from "./needs_apply.ts";
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
    return differs(wanted, live, { kind, path: [], owned: undefined, mode: "untracked" });
  }
  if (owner.apiVersion !== undefined && owner.apiVersion !== desired.apiVersion) return true;
  const owned = withoutStatus(owner.fields);
  return differs(wanted, live, { kind, path: [], owned, mode: "tracked" }) ||
    ownsMore(owned, wanted);
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
 * Whether a value that is not there is one that the API server leaves out, since it is empty
 * and Go's `omitempty` drops it. An empty struct it keeps, so that one counts, unless we own
 * it and it is not there all the same.
 */
function isDropped(want: unknown, place: Place): boolean {
  if (Array.isArray(want)) return want.length === 0;
  if (isRecord(want) ? !isEmptyRecord(want) : want) return false;
  if (place.mode === "tracked") return place.owned !== undefined;
  return !isRecord(want) || isMap(place.path);
}

function mapDiffers(
  want: Readonly<Record<string, unknown>>,
  have: Readonly<Record<string, unknown>>,
  place: Place,
): boolean {
  if (isLost(place)) return !isHollow(want);
  const inside = within(place);
  const changed = Object.entries(want).some(([name, value]) =>
    differs(value, have[name], {
      ...inside,
      path: [...place.path, name],
      owned: below(inside.owned, `f:${name}`),
    })
  );
  // `{}` that is ours may also be a map that others may fill; a selector is not.
  const closed = place.mode === "atomic" || !isEmptyRecord(want) || isSelector(place.path);
  return changed || (inside.mode === "atomic" && closed && hasMore(want, have, place.path));
}

/** Whether an atomic value holds what we do not want (any more), the server's defaults aside. */
function hasMore(
  want: Readonly<Record<string, unknown>>,
  have: Readonly<Record<string, unknown>>,
  path: FieldPath,
): boolean {
  return Object.entries(have).some(([name, value]) =>
    isAbsent(want[name]) && !isDefault([...path, name], value)
  );
}

function listDiffers(want: readonly unknown[], have: readonly unknown[], place: Place): boolean {
  if (isLost(place)) return want.length > 0;
  const owned = ownedItems(place.owned ?? {});
  const shape = shapeOf(owned, place);
  if (shape === "set") return !want.every((value) => have.some((other) => sameJson(value, other)));
  if (shape === undefined) {
    const mode = place.mode === "tracked" ? "atomic" : place.mode;
    const inside: Place = { ...place, owned: undefined, mode };
    return want.length !== have.length || want.some((item, i) => differs(item, have[i], inside));
  }
  return itemsDiffer(want, have, shape.keys, (id) => ({ ...place, owned: owned.items.get(id) }));
}

/** Compares by merge keys. Apply also restores the order of our items among each other. */
function itemsDiffer(
  want: readonly unknown[],
  have: readonly unknown[],
  keys: readonly string[],
  placeOf: (id: string) => Place,
): boolean {
  const places = new Map(have.map((item, i) => [itemId(item, keys), i]));
  let last = -1;
  return want.some((item) => {
    const id = itemId(item, keys);
    const at = places.get(id);
    if (at === undefined || at < last) return true;
    last = at;
    return differs(item, have[at], placeOf(id));
  });
}

/** What kind of list this is: managedFields know, else it is a well-known one, else atomic. */
function shapeOf(owned: OwnedItems, place: Place): ListKind {
  if (owned.keys.length > 0) return { keys: owned.keys };
  if (owned.values.length > 0) return "set";
  // Ours as a whole: were it not ours at all, it would be lost.
  if (place.mode !== "untracked") return undefined;
  return listKind(place.kind, place.path);
}

/**
 * A value of several fields that we apply, and of which we own nothing: another writer has
 * replaced it, be it by one that holds what we want and more.
 */
function isLost(place: Place): boolean {
  return place.mode === "tracked" && place.owned === undefined;
}

/** Whether nothing is in a value that the API server would note an owner for. */
function isHollow(want: unknown): boolean {
  if (Array.isArray(want)) return want.length === 0;
  return isAbsent(want) || (isRecord(want) && Object.values(want).every(isHollow));
}

/** Below a map that is owned as a whole (atomic) there is nothing to track. */
function within(place: Place): Place {
  const { path, owned } = place;
  const whole = path.length > 0 && owned !== undefined && isEmptyRecord(owned);
  return whole ? { ...place, owned: undefined, mode: "atomic" } : place;
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
