/**
 * Objects as trees of fields: which fields an object has, how two differ, how
 * one is merged into the other, and the removal of fields.
 *
 * @module
 */
import { EMPTY, type FieldSet, fieldSet, FieldSetBuilder, type Path } from "./field_set.ts";
import { equal, isMap, type Json, type JsonMap, setMember } from "./json.ts";
import {
  type FieldRules,
  type Item,
  keyedItems,
  ListError,
  type ListRule,
  pathText,
} from "./list_rules.ts";

/** A place in an object: names alone (to look rules up), and all path elements. */
interface Place {
  readonly names: readonly string[];
  readonly path: Path;
}

const ROOT: Place = { names: [], path: [] };

function member(place: Place, name: string): Place {
  return { names: [...place.names, name], path: [...place.path, `f:${name}`] };
}

function item(place: Place, element: string): Place {
  return { names: place.names, path: [...place.path, element] };
}

interface Child {
  readonly place: Place;
  readonly value: Json;
}

/**
 * What lies below a value, by path element; undefined for leaves (scalars and atomic ones).
 *
 * @throws {ListError} when a list lacks its keys.
 */
function strictChildren(
  value: Json,
  place: Place,
  rules: FieldRules,
): Map<string, Child> | undefined {
  if (isMap(value)) {
    if (rules.isAtomicMap(place.names)) return undefined;
    return new Map(
      Object.entries(value).map(([name, child]) => [
        `f:${name}`,
        { place: member(place, name), value: child },
      ]),
    );
  }
  if (!Array.isArray(value)) return undefined;
  const items = itemsAt(value, place, rules);
  return items &&
    new Map(items.map((i) => [i.element, { place: item(place, i.element), value: i.value }]));
}

function itemsAt(value: Json[], place: Place, rules: FieldRules): Item[] | undefined {
  try {
    return keyedItems(value, rules.list(place.names));
  } catch (cause) {
    if (!(cause instanceof ListError)) throw cause;
    throw new ListError(`${pathText(place.path)}: ${cause.message}`, { cause });
  }
}

/** {@linkcode strictChildren}, with lists that lack their keys as leaves: updates may make such. */
function childrenOf(value: Json, place: Place, rules: FieldRules): Map<string, Child> | undefined {
  try {
    return strictChildren(value, place, rules);
  } catch (cause) {
    if (!(cause instanceof ListError)) throw cause;
    return undefined;
  }
}

function itemsOf(list: Json[], rule: ListRule): Item[] | undefined {
  try {
    return keyedItems(list, rule);
  } catch (cause) {
    if (!(cause instanceof ListError)) throw cause;
    return undefined;
  }
}

/**
 * The fields that an applied configuration claims: leaves, items of keyed lists,
 * and empty maps.
 *
 * @throws {ListError} when a list lacks its keys.
 */
export function appliedFields(object: JsonMap, rules: FieldRules): FieldSet {
  const paths: Path[] = [];
  const visit = (value: Json, place: Place) => {
    const children = strictChildren(value, place, rules);
    const isItem = /^[kv]:/.test(place.path[place.path.length - 1] ?? "");
    const isEmptyMap = isMap(value) && children?.size === 0;
    if (!children || isItem || (isEmptyMap && place.path.length > 0)) paths.push(place.path);
    for (const child of children?.values() ?? []) visit(child.value, child.place);
  };
  visit(object, ROOT);
  return fieldSet(paths);
}

/** How two objects differ. */
export interface Difference {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** Compares field by field; what is new or gone is listed with all below it. */
export function compare(before: JsonMap, after: JsonMap, rules: FieldRules): Difference {
  const added = new FieldSetBuilder();
  const modified = new FieldSetBuilder();
  const removed = new FieldSetBuilder();
  const all = (value: Json, place: Place, into: FieldSetBuilder) => {
    into.insert(place.path);
    for (const child of childrenOf(value, place, rules)?.values() ?? []) {
      all(child.value, child.place, into);
    }
  };
  // Null beside a map or a list is an empty one.
  const partsOf = (value: Json, other: Json, place: Place) =>
    value === null && childrenOf(other, place, rules)
      ? new Map<string, Child>()
      : childrenOf(value, place, rules);
  const visit = (a: Json, b: Json, place: Place) => {
    const [before, after] = [partsOf(a, b, place), partsOf(b, a, place)];
    if (!before || !after || Array.isArray(a) !== Array.isArray(b) && a !== null && b !== null) {
      if (!equal(a, b)) modified.insert(place.path);
      return;
    }
    for (const [element, child] of before) {
      const other = after.get(element);
      if (!other) all(child.value, child.place, removed);
      else visit(child.value, other.value, child.place);
    }
    for (const [element, child] of after) {
      if (!before.has(element)) all(child.value, child.place, added);
    }
  };
  visit(before, after, ROOT);
  return { added, modified, removed };
}

/** The live object with a configuration laid over it. */
export function merge(live: JsonMap, config: JsonMap, rules: FieldRules): JsonMap {
  return mergeMaps(live, config, { place: ROOT, rules });
}

interface MergeContext {
  readonly place: Place;
  readonly rules: FieldRules;
}

function mergeValues(live: Json | undefined, config: Json, context: MergeContext): Json {
  if (isMap(live) && isMap(config)) {
    const atomic = context.rules.isAtomicMap(context.place.names);
    return atomic ? config : mergeMaps(live, config, context);
  }
  if (Array.isArray(live) && Array.isArray(config)) {
    const rule = context.rules.list(context.place.names);
    const [left, right] = [itemsOf(live, rule), itemsOf(config, rule)];
    return left && right ? mergeItems(left, right, context) : config;
  }
  return config;
}

function mergeMaps(live: JsonMap, config: JsonMap, { place, rules }: MergeContext): JsonMap {
  const result: JsonMap = { ...live };
  for (const [name, value] of Object.entries(config)) {
    const context = { place: member(place, name), rules };
    const old = Object.hasOwn(live, name) ? live[name] : undefined;
    setMember(result, name, mergeValues(old, value, context));
  }
  return result;
}

/**
 * The configuration's items in its order, the others between them where they were.
 * Where the two orders disagree about items that both have, the configuration's wins.
 */
function mergeItems(live: Item[], config: Item[], { place, rules }: MergeContext): Json[] {
  const old = new Map(live.map((i) => [i.element, i.value]));
  const wanted = new Set(config.map((i) => i.element));
  const shared = config.filter((i) => old.has(i.element)).map((i) => i.element);
  const waiting = [...config];
  const result: Json[] = [];
  const take = ({ element, value }: Item) =>
    result.push(mergeValues(old.get(element), value, { place: item(place, element), rules }));
  for (const { element, value } of live) {
    if (!wanted.has(element)) result.push(value);
    else if (element === shared[0]) {
      shared.shift();
      const until = waiting.findIndex((i) => i.element === element);
      waiting.splice(0, until + 1).forEach(take);
    }
  }
  waiting.forEach(take);
  return result;
}

/** The object without those fields; each goes with all below it. */
export function removeFields(object: JsonMap, remove: FieldSet, rules: FieldRules): JsonMap {
  const result = removeFrom(object, remove, { place: ROOT, rules });
  return isMap(result) ? result : {};
}

function removeFrom(value: Json, remove: FieldSet, { place, rules }: MergeContext): Json {
  if (remove.children.size === 0) return value;
  const children = childrenOf(value, place, rules);
  if (!children) return value;
  const kept: [string, Json][] = [];
  for (const [element, child] of children) {
    const branch = remove.children.get(element) ?? EMPTY;
    if (branch.member) continue;
    kept.push([element, removeFrom(child.value, branch, { place: child.place, rules })]);
  }
  // What loses its last part becomes null, not empty: so it is in the real server.
  if (kept.length === 0 && children.size > 0) return null;
  if (Array.isArray(value)) return kept.map(([, child]) => child);
  const result: JsonMap = {};
  for (const [element, child] of kept) setMember(result, element.slice(2), child);
  return result;
}
