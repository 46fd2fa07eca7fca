/**
 * Who owns which fields: `metadata.managedFields`.
 *
 * @module
 */
import type { KubeObject, ManagedFieldsEntry } from "../../core/object.ts";
import { timestamp } from "./clock.ts";
import {
  difference,
  EMPTY,
  type FieldSet,
  fromFieldsV1,
  isEmpty,
  toFieldsV1,
  union,
  withoutBranch,
} from "./field_set.ts";
import { equal, fields, isMap, type Json, type JsonMap } from "./json.ts";
import type { FieldRules } from "./list_rules.ts";
import { compare, type Difference } from "./typed.ts";

/** Who writes, and how. */
export interface Writer {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly subresource?: string;
  readonly apiVersion: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** One manager's fields. */
export interface Owned {
  readonly entry: ManagedFieldsEntry;
  readonly set: FieldSet;
}

/** All managers' fields, by {@linkcode ownerKey}. */
export type Owners = ReadonlyMap<string, Owned>;

/** Fields that nobody owns. */
const UNOWNED: readonly (readonly string[])[] = [
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata", "f:name"],
  ["f:metadata", "f:namespace"],
  ["f:metadata", "f:creationTimestamp"],
  ["f:metadata", "f:deletionTimestamp"],
  ["f:metadata", "f:deletionGracePeriodSeconds"],
  ["f:metadata", "f:selfLink"],
  ["f:metadata", "f:uid"],
  ["f:metadata", "f:generation"],
  ["f:metadata", "f:managedFields"],
  ["f:metadata", "f:resourceVersion"],
];

/** The set without fields that nobody owns. */
export function ownable(set: FieldSet): FieldSet {
  const rest = UNOWNED.reduce(withoutBranch, set);
  const metadata = rest.children.get("f:metadata");
  const bare = metadata?.member && isEmpty({ ...metadata, member: false });
  return bare ? withoutBranch(rest, ["f:metadata"]) : rest;
}

export function ownerKey(entry: ManagedFieldsEntry | Writer): string {
  return [entry.manager, entry.operation, entry.apiVersion, entry.subresource ?? ""].join("\n");
}

export function ownersOf(object: KubeObject | undefined): Owners {
  const entries = object?.metadata.managedFields ?? [];
  return new Map(
    entries.map((entry) => [
      ownerKey(entry),
      { entry, set: fromFieldsV1(entry.fieldsV1 as Json | undefined) },
    ]),
  );
}

/** The entries to store, in the order of the real server; managers without fields have none. */
export function toEntries(owners: Owners): ManagedFieldsEntry[] {
  const entries = [...owners.values()].filter(({ set }) => !isEmpty(set)).map((
    { entry, set },
  ): ManagedFieldsEntry => ({ ...entry, fieldsV1: toFieldsV1(set) }));
  return entries.map((entry) => ({ entry, rank: rank(entry) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0)).map(({ entry }) => entry);
}

function rank({ operation, time, manager, apiVersion, subresource }: ManagedFieldsEntry): string {
  return [operation, time, manager, apiVersion, subresource].map((part) => part ?? "").join("\n");
}

/** The entry of a writer, now. */
export function ownedBy(writer: Writer, set: FieldSet): Owned {
  const entry: ManagedFieldsEntry = {
    manager: writer.manager,
    operation: writer.operation,
    apiVersion: writer.apiVersion,
    time: timestamp(writer.now),
    fieldsType: "FieldsV1",
    ...(writer.subresource ? { subresource: writer.subresource } : {}),
  };
  return { entry, set };
}

/** What others own after a change by `writer`: not what it changed, not what is gone. */
export function othersAfter(owners: Owners, writer: Writer, change: Difference): Owners {
  const lost = union(union(change.added, change.modified), change.removed);
  const result = new Map<string, Owned>();
  for (const [key, owned] of owners) {
    const set = key === ownerKey(writer) ? owned.set : difference(owned.set, lost);
    result.set(key, { ...owned, set });
  }
  return result;
}

/** What managers own after a create, update or patch (all but server-side apply). */
export function ownersAfterUpdate(
  { live, next, writer, rules }: {
    live: KubeObject | undefined;
    next: KubeObject;
    writer: Writer;
    rules: FieldRules;
  },
): Owners {
  const change = compare(live ? comparable(live) : unwritten(next, rules), comparable(next), rules);
  const changed = union(change.added, change.modified);
  const owners = new Map(othersAfter(ownersOf(live), writer, change));
  const mine = owners.get(ownerKey(writer));
  const set = ownable(union(difference(mine?.set ?? EMPTY, change.removed), changed));
  if (mine && equal(toFieldsV1(mine.set), toFieldsV1(set))) return owners;
  owners.set(ownerKey(writer), ownedBy(writer, set));
  return owners;
}

/** The object without what every write changes. */
export function comparable(object: KubeObject): JsonMap {
  const { managedFields: _m, resourceVersion: _r, generation: _g, ...metadata } = object.metadata;
  return fields({ ...object, metadata } as KubeObject);
}

/**
 * What a new object is compared with: all that its writer does not own. In a
 * built-in kind that is the status, and what the server allocates.
 */
function unwritten(object: KubeObject, rules: FieldRules): JsonMap {
  const { apiVersion, kind } = object;
  const { spec, status } = fields(object);
  const bare = { apiVersion, kind, metadata: {} };
  if (!rules.builtin) return bare;
  return {
    ...bare,
    ...(status === undefined ? {} : { status }),
    ...(isMap(spec) ? { spec: allocated(kind, spec) } : {}),
  };
}

const ADDRESSES = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];

function allocated(kind: string, spec: JsonMap): JsonMap {
  if (kind === "Namespace") return spec;
  if (kind !== "Service") return {};
  const names = spec["clusterIP"] === "None" ? ADDRESSES.slice(1) : ADDRESSES;
  return Object.fromEntries(Object.entries(spec).filter(([name]) => names.includes(name)));
}
