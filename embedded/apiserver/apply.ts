/**
 * Server-side apply: merging a manager's configuration into the live object,
 * with conflicts, shared ownership, and removal of what it no longer applies.
 *
 * @module
 */
import type { KubeObject, ManagedFieldsEntry } from "../../core/object.ts";
import { ApiError, type StatusCause } from "./errors.ts";
import {
  difference,
  EMPTY,
  type FieldSet,
  fieldSet,
  intersection,
  isEmpty,
  members,
  type Path,
  union,
  withNamedAncestors,
} from "./field_set.ts";
import { asObject, type JsonMap } from "./json.ts";
import { type FieldRules, ListError, pathText } from "./list_rules.ts";
import {
  comparable,
  othersAfter,
  ownable,
  type Owned,
  ownedBy,
  ownerKey,
  type Owners,
  ownersOf,
  type Writer,
} from "./managed_fields.ts";
import { appliedFields, compare, type Difference, merge, removeFields } from "./typed.ts";

/** A server-side apply of `config`. */
export interface ApplyRequest {
  readonly live: KubeObject | undefined;
  /** Already without nulls and without fields that this resource ignores. */
  readonly config: JsonMap;
  readonly writer: Writer;
  readonly force: boolean;
  readonly rules: FieldRules;
}

/** The merged object and who owns what of it. */
export interface Applied {
  readonly object: KubeObject;
  readonly owners: Owners;
}

/**
 * Applies a configuration.
 *
 * @throws {ApiError} 409 with a cause for each field that another manager has with
 *   another value, unless `force`.
 */
export function serverSideApply(request: ApplyRequest): Applied {
  const { live, config, writer, force, rules } = request;
  const before: JsonMap = live ? comparable(live) : {};
  const set = claimedFields(config, request);
  const owners = ownersOf(live);
  const last = owners.get(ownerKey(writer));
  const others = new Map(owners);
  others.delete(ownerKey(writer));

  const merged = merge(before, config, rules);
  const gone = noLongerApplied(last?.set ?? EMPTY, [
    set,
    ...[...others.values()].map((o) => o.set),
  ]);
  const object = removeFields(merged, gone, rules);
  const change = compare(before, object, rules);
  const found = conflicts(others, union(change.added, change.modified));
  if (found.length > 0 && !force) throw applyConflict(found);

  const after = new Map(othersAfter(owners, writer, change));
  after.set(ownerKey(writer), { entry: claim(request, last, change), set });
  return { object: asObject(object), owners: after };
}

/** Only a change of the object sets the time: who merely joins its owners has the last one or none. */
function claim(
  { writer, live }: ApplyRequest,
  last: Owned | undefined,
  change: Difference,
): ManagedFieldsEntry {
  const { entry } = ownedBy(writer, EMPTY);
  const same = [change.added, change.modified, change.removed].every(isEmpty);
  if (!live || !same) return entry;
  const { time: _, ...untimed } = entry;
  return last?.entry.time ? { ...untimed, time: last.entry.time } : untimed;
}

function claimedFields(config: JsonMap, { rules, writer }: ApplyRequest): FieldSet {
  try {
    return ownable(appliedFields(config, rules));
  } catch (cause) {
    if (!(cause instanceof ListError)) throw cause;
    const { name, namespace = "" } = asObject(config).metadata;
    const of = `${namespace}/${name}; ${writer.apiVersion}, Kind=${String(config["kind"])}`;
    throw new ApiError(500, "", `failed to create typed patch object (${of}): ${cause.message}`);
  }
}

/** What an object always has, whoever owns fields below it. */
const KEPT = fieldSet([["f:apiVersion"], ["f:kind"], ["f:metadata"]]);

/** Of what the manager applied last: the fields that now nobody has, nor anything below them. */
function noLongerApplied(last: FieldSet, owned: readonly FieldSet[]): FieldSet {
  const all = owned.reduce(union, KEPT);
  return difference(withNamedAncestors(last), withNamedAncestors(all));
}

interface Conflict {
  readonly entry: ManagedFieldsEntry;
  readonly path: Path;
}

function conflicts(others: Owners, changed: FieldSet): Conflict[] {
  return [...others.values()].flatMap(({ entry, set }) => {
    const contested = intersection(set, changed);
    return isEmpty(contested) ? [] : [...members(contested)].map((path) => ({ entry, path }));
  });
}

function managerText(entry: ManagedFieldsEntry): string {
  const name = JSON.stringify(entry.manager ?? "");
  const via = entry.subresource ? ` with subresource ${JSON.stringify(entry.subresource)}` : "";
  if (entry.operation !== "Update") return `${name}${via}`;
  return `${name}${via} using ${entry.apiVersion}`;
}

function applyConflict(found: readonly Conflict[]): ApiError {
  const causes: StatusCause[] = found.map(({ entry, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${managerText(entry)}`,
    field: pathText(path),
  }));
  return new ApiError(409, "Conflict", conflictMessage(found), { causes });
}

function conflictMessage(found: readonly Conflict[]): string {
  const [first] = found;
  if (found.length === 1 && first) {
    const where = `${managerText(first.entry)}: ${pathText(first.path)}`;
    return `Apply failed with 1 conflict: conflict with ${where}`;
  }
  const byManager = Map.groupBy(found, ({ entry }) => managerText(entry));
  const parts = [...byManager].sort(([a], [b]) => (a < b ? -1 : 1)).map(([manager, list]) =>
    [`conflicts with ${manager}:`, ...list.map(({ path }) => `- ${pathText(path)}`)].join("\n")
  );
  return `Apply failed with ${found.length} conflicts: ${parts.join("\n")}`;
}
