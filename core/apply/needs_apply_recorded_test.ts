/**
 * Objects as kube-apiserver 1.36.3 (with the CRDs of Gateway API 1.6.1 and our own) gave them
 * back right after they were applied: what it fills in, drops and notes as owned is its own.
 */
import { assert, assertFalse } from "@std/assert";
import type { KubeObject } from "../object.ts";
import { needsApply } from "./needs_apply.ts";
import { isDefault } from "./schema_facts.ts";

const FOLDER = new URL("./testdata/applied/", import.meta.url);

type Path = readonly (string | number)[];

/** The paths of all values that an apply can change. */
function* paths(value: unknown, at: Path = []): Generator<Path> {
  if (typeof value !== "object" || value === null) return;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const path = [...at, key];
    if (["apiVersion", "kind", "metadata"].includes(String(path[0]))) continue;
    yield path;
    yield* paths((value as Record<string | number, unknown>)[key], path);
  }
}

/** A copy without the value at a path. */
function without(object: KubeObject, path: Path): KubeObject {
  const copy = structuredClone(object);
  // deno-lint-ignore no-explicit-any
  const parent = path.slice(0, -1).reduce((value: any, key) => value[key], copy);
  if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1);
  else delete parent[path.at(-1)!];
  return copy;
}

/** A copy with another text or number at a path; undefined where something else is. */
function altered(object: KubeObject, path: Path): KubeObject | undefined {
  const copy = structuredClone(object);
  // deno-lint-ignore no-explicit-any
  const parent = path.slice(0, -1).reduce((value: any, key) => value[key], copy);
  const value = parent[path.at(-1)!];
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  parent[path.at(-1)!] = typeof value === "string" ? `${value}x` : value + 1;
  return copy;
}

/** Whether a value, when dropped, is filled in again as it was, or leaves `{}`, which is not valid. */
function isMoot(object: KubeObject, path: Path): boolean {
  // deno-lint-ignore no-explicit-any
  const parent = path.slice(0, -1).reduce((value: any, key) => value[key], object);
  const names = path.filter((key): key is string => typeof key === "string");
  return isDefault(names, parent[path.at(-1)!]) ||
    (!Array.isArray(parent) && Object.keys(parent).length === 1);
}

for (const { name } of [...Deno.readDirSync(FOLDER)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  const kind = name.replace(".json", "");
  const { desired, live } = JSON.parse(Deno.readTextFileSync(new URL(name, FOLDER)));

  Deno.test(`a ${kind} that kube-apiserver gave back after an apply needs none`, () => {
    assertFalse(needsApply(live, desired, "me"));
  });

  Deno.test(`a ${kind} needs an apply after any field was dropped or changed`, () => {
    for (const path of paths(desired)) {
      const less = without(desired, path);
      if (!isMoot(desired, path)) assert(needsApply(live, less, "me"), `without ${path.join(".")}`);
      const other = altered(desired, path);
      if (other) assert(needsApply(live, other, "me"), `another ${path.join(".")}`);
    }
  });
}
