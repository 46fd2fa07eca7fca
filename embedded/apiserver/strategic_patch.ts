/**
 * Strategic merge patch, which plain `kubectl apply` and `kubectl edit` send for
 * built-in kinds: lists merge by key, and `$` members are directives.
 *
 * @module
 */
import { canonical, clone, equal, isMap, type Json, type JsonMap, setMember } from "./json.ts";
import type { FieldRules, ListRule } from "./list_rules.ts";

const ORDER = "$setElementOrder/";
const DELETE_FROM = "$deleteFromPrimitiveList/";

interface Place {
  readonly names: readonly string[];
  readonly rules: FieldRules;
}

/** The target with a strategic merge patch applied. */
export function strategicMergePatch(target: JsonMap, patch: JsonMap, rules: FieldRules): JsonMap {
  return mergeMaps(target, patch, { names: [], rules });
}

function mergeMaps(target: JsonMap, patch: JsonMap, place: Place): JsonMap {
  const { $patch: directive, $retainKeys: retain, ...changes } = patch;
  if (directive === "replace") return clone(changes);
  if (directive === "delete") return {};
  const result = retained(target, retain);
  for (const [name, change] of Object.entries(changes)) {
    if (name.startsWith(ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) {
      deleteFrom(result, name.slice(DELETE_FROM.length), change);
    } else if (change === null) delete result[name];
    else {
      const below = { ...place, names: [...place.names, name] };
      setMember(result, name, mergeValues(result[name], change, below));
    }
  }
  for (const [name, order] of Object.entries(changes)) {
    if (!name.startsWith(ORDER)) continue;
    const list = name.slice(ORDER.length);
    sortMember(result, { name: list, order, before: target[list], place });
  }
  return result;
}

function retained(target: JsonMap, retain: Json | undefined): JsonMap {
  if (!Array.isArray(retain)) return { ...target };
  return Object.fromEntries(Object.entries(target).filter(([name]) => retain.includes(name)));
}

function deleteFrom(map: JsonMap, name: string, values: Json): void {
  const list = map[name];
  if (!Array.isArray(list) || !Array.isArray(values)) return;
  map[name] = list.filter((value) => !values.includes(value));
}

function mergeValues(target: Json | undefined, change: Json, place: Place): Json {
  if (isMap(change)) return mergeMaps(isMap(target) ? target : {}, change, place);
  if (!Array.isArray(change)) return change;
  return mergeLists(Array.isArray(target) ? target : [], change, place);
}

function mergeLists(target: Json[], change: Json[], place: Place): Json[] {
  const rule = place.rules.list(place.names);
  if (rule.list === "set") return [...new Set([...target, ...change])];
  const key = mergeKey(rule);
  if (key === undefined) return clone(change);
  const items = change.filter(isMap);
  const whole = items.some((item) => item["$patch"] === "replace" && item[key] === undefined);
  const result = whole ? [] : [...target];
  for (const item of items) mergeItem(result, item, { key, place });
  return sortItems(result, items, { before: target, key });
}

function mergeItem(list: Json[], item: JsonMap, { key, place }: { key: string; place: Place }) {
  const id = item[key];
  if (id === undefined) return;
  const at = list.findIndex((other) => isMap(other) && equal(other[key], id));
  const old = list[at];
  if (item["$patch"] === "delete") {
    if (at >= 0) list.splice(at, 1);
  } else if (isMap(old)) list[at] = mergeMaps(old, item, place);
  else list.push(mergeMaps({}, item, place));
}

function mergeKey(rule: ListRule): string | undefined {
  return rule.list === "map" ? rule.keys[0]?.name : undefined;
}

/**
 * Sorts a list by the order that the patch gives; items that it does not name keep
 * their places before those that came after them.
 */
function sortItems(list: Json[], order: Json[], { before, key }: Order): Json[] {
  const id = (item: Json) =>
    canonical((key !== undefined && isMap(item) ? item[key] : item) ?? null);
  const index = (items: Json[]) => new Map(items.map((item, i) => [id(item), i]));
  const [wanted, was] = [index(order), index(before)];
  const named = list.filter((item) => wanted.has(id(item)))
    .sort((a, b) => wanted.get(id(a))! - wanted.get(id(b))!);
  const others = list.filter((item) => !wanted.has(id(item)));
  const result: Json[] = [];
  for (const item of named) {
    const at = was.get(id(item));
    while (at !== undefined && others[0] !== undefined && (was.get(id(others[0])) ?? at) < at) {
      result.push(others.shift()!);
    }
    result.push(item);
  }
  return [...result, ...others];
}

interface Order {
  /** The list before the patch. */
  readonly before: Json[];
  readonly key: string | undefined;
}

function sortMember(
  map: JsonMap,
  { name, order, before, place }: {
    name: string;
    order: Json;
    before: Json | undefined;
    place: Place;
  },
): void {
  const list = map[name];
  if (!Array.isArray(list) || !Array.isArray(order)) return;
  const key = mergeKey(place.rules.list([...place.names, name]));
  map[name] = sortItems(list, order, { before: Array.isArray(before) ? before : [], key });
}
