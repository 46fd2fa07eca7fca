/**
 * The part of JSONPath that printer columns use: names, indexes, `[*]`, names in
 * brackets, and filters that compare a name with a text.
 *
 * @module
 */
import { isMap, type Json, type JsonMap } from "./json.ts";

const STEP =
  /\.([A-Za-z_][\w-]*)|\[(\d+)\]|(\[\*\])|\['([^']+)'\]|\[\?\(@\.([\w-]+)\s*==\s*["']([^"']*)["']\)\]/gy;

type Step = (value: Json) => Json[];

const parsed = new Map<string, readonly Step[]>();

/**
 * The values that a path leads to; none where it leads nowhere.
 *
 * @throws {SyntaxError} for a path of another form.
 */
export function jsonPathValues(path: string, object: JsonMap): Json[] {
  const steps = parsed.get(path) ?? parse(path);
  parsed.set(path, steps);
  return steps.reduce<Json[]>((values, step) => values.flatMap(step), [object]);
}

function parse(path: string): Step[] {
  const matches = [...path.matchAll(STEP)];
  if (matches.map(([text]) => text).join("") !== path) {
    throw new SyntaxError(`${path} is no JSONPath of the kinds that columns use`);
  }
  return matches.map(([, name, index, all, quoted, field, wanted]) => {
    const member = name ?? quoted;
    if (member !== undefined) return (value) => isMap(value) ? present(value[member]) : [];
    const items = (value: Json) => Array.isArray(value) ? value : [];
    if (index !== undefined) return (value) => present(items(value)[Number(index)]);
    if (all !== undefined) return items;
    return (value) => items(value).filter((item) => isMap(item) && item[field ?? ""] === wanted);
  });
}

function present(value: Json | undefined): Json[] {
  return value === undefined ? [] : [value];
}
