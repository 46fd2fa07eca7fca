/**
 * Sets of fields of an object, and their form in `managedFields` (`fieldsV1`).
 *
 * @module
 */
import { isMap, type Json, type JsonMap, setMember } from "./json.ts";

/** Path elements: `f:<name>`, `k:<keys of an item>`, `v:<value of an item>`. */
export type Path = readonly string[];

/** A tree of path elements; a node may itself be a member of the set. */
export interface FieldSet {
  readonly member: boolean;
  readonly children: ReadonlyMap<string, FieldSet>;
}

export const EMPTY: FieldSet = { member: false, children: new Map() };

/** Gathers fields into a set. */
export class FieldSetBuilder {
  member = false;
  readonly children = new Map<string, FieldSetBuilder>();

  insert(path: Path): void {
    // deno-lint-ignore no-this-alias
    let node: FieldSetBuilder = this;
    for (const element of path) {
      const next = node.children.get(element) ?? new FieldSetBuilder();
      node.children.set(element, next);
      node = next;
    }
    node.member = true;
  }
}

/** The set of the paths given. */
export function fieldSet(paths: Iterable<Path>): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.insert(path);
  return builder;
}

/** The members of a set in the order of the real server: all of a level, then what is below. */
export function* members(set: FieldSet, prefix: Path = []): Generator<Path> {
  const elements = [...set.children.keys()].sort();
  for (const element of elements) {
    if (set.children.get(element)?.member) yield [...prefix, element];
  }
  for (const element of elements) {
    yield* members(set.children.get(element) ?? EMPTY, [...prefix, element]);
  }
}

export function isEmpty(set: FieldSet): boolean {
  return !set.member && [...set.children.values()].every(isEmpty);
}

type Combine = (a: boolean, b: boolean) => boolean;

function combine(a: FieldSet, b: FieldSet, keep: Combine): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const element of new Set([...a.children.keys(), ...b.children.keys()])) {
    const child = combine(
      a.children.get(element) ?? EMPTY,
      b.children.get(element) ?? EMPTY,
      keep,
    );
    if (child.member || child.children.size > 0) children.set(element, child);
  }
  return { member: keep(a.member, b.member), children };
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (x, y) => x || y);
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (x, y) => x && y);
}

export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return combine(a, b, (x, y) => x && !y);
}

/**
 * The set with every named field above a member as a member too. Not so the items of
 * lists: they belong to who has the item itself, not merely something in it.
 */
export function withNamedAncestors(set: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of set.children) {
    if (isEmpty(child)) continue;
    const below = withNamedAncestors(child);
    children.set(element, { ...below, member: child.member || element.startsWith("f:") });
  }
  return { member: set.member, children };
}

/** The set without a field and all below it. */
export function withoutBranch(set: FieldSet, path: Path): FieldSet {
  const [element, ...rest] = path;
  const child = element === undefined ? undefined : set.children.get(element);
  if (element === undefined || !child) return set;
  const children = new Map(set.children);
  if (rest.length === 0) children.delete(element);
  else children.set(element, withoutBranch(child, rest));
  return { member: set.member, children };
}

/** The set as `fieldsV1` has it. */
export function toFieldsV1(set: FieldSet): JsonMap {
  const result: JsonMap = {};
  if (set.member && set.children.size > 0) result["."] = {};
  for (const element of [...set.children.keys()].sort()) {
    const child = set.children.get(element) ?? EMPTY;
    if (!isEmpty(child)) setMember(result, element, toFieldsV1(child));
  }
  return result;
}

/** The inverse of {@linkcode toFieldsV1}. */
export function fromFieldsV1(fieldsV1: Json | undefined, root = true): FieldSet {
  if (!isMap(fieldsV1)) return EMPTY;
  const names = Object.keys(fieldsV1);
  const children = new Map<string, FieldSet>();
  for (const name of names) {
    if (name !== ".") children.set(name, fromFieldsV1(fieldsV1[name], false));
  }
  return { member: Object.hasOwn(fieldsV1, ".") || (names.length === 0 && !root), children };
}
