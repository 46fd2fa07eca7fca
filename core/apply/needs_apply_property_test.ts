import { assert, assertFalse } from "@std/assert";
import fc from "fast-check";
import type { KubeObject } from "../object.ts";
import { needsApply } from "./needs_apply.ts";

type Fields = Record<string, unknown>;

const wanted = (spec: Fields): KubeObject & { spec: Fields } => ({
  apiVersion: "example.com/v1",
  kind: "X",
  metadata: { name: "x" },
  spec,
});

/** An object whose `owned` part we have applied. */
function live(spec: Fields, owned: Fields): KubeObject {
  const entry = { manager: "me", operation: "Apply", apiVersion: "example.com/v1" };
  const managedFields = [{ ...entry, fieldsV1: { "f:spec": fieldsOf(owned) } }];
  return { ...wanted(spec), metadata: { name: "x", managedFields } };
}

// A small server-side apply for custom resources: maps are granular, lists atomic.

function fieldsOf(value: Fields): Fields {
  const set: Fields = {};
  for (const [name, child] of Object.entries(value)) {
    const map = typeof child === "object" && child !== null && !Array.isArray(child);
    set[`f:${name}`] = map ? fieldsOf(child as Fields) : {};
  }
  return set;
}

function merge(have: Fields, want: Fields): Fields {
  const out: Fields = { ...have };
  for (const [name, value] of Object.entries(want)) {
    const old = out[name];
    const map = (v: unknown) => typeof v === "object" && v !== null && !Array.isArray(v);
    out[name] = map(value) ? merge(map(old) ? old as Fields : {}, value as Fields) : value;
  }
  return out;
}

const scalar = fc.oneof(fc.string({ maxLength: 4 }), fc.integer(), fc.boolean());
const nonZero = fc.oneof(fc.string({ minLength: 1, maxLength: 4 }), fc.integer({ min: 1 }));
const field = fc.constantFrom("a", "b", "c", "d");
/** Specs of scalars, lists and maps; with `minKeys` 1 and non-zero scalars none of them empty. */
const specs = (leaf: fc.Arbitrary<unknown>, minKeys: 0 | 1) =>
  fc.letrec<{ tree: Fields; value: unknown }>((tie) => {
    const item = fc.oneof(leaf, fc.dictionary(field, leaf, { minKeys, maxKeys: 2 }));
    const list = fc.array(item, { minLength: minKeys, maxLength: 3 });
    return {
      tree: fc.dictionary(field, tie("value"), { minKeys, maxKeys: 4 }),
      value: fc.oneof({ depthSize: "small" }, leaf, list, tie("tree")),
    };
  }).tree;

Deno.test("needsApply() is false after an apply, whatever was there before", () => {
  fc.assert(
    fc.property(specs(scalar, 0), specs(scalar, 0), (before, spec) => {
      const after = live(merge(before, spec), spec);
      assertFalse(needsApply(after, wanted(spec), "me"));
    }),
    { numRuns: 500 },
  );
});

Deno.test("needsApply() is true after an apply for any other wish", () => {
  fc.assert(
    fc.property(specs(nonZero, 1), specs(nonZero, 1), (spec, other) => {
      fc.pre(JSON.stringify(sorted(spec)) !== JSON.stringify(sorted(other)));
      const have = live(spec, spec);
      assert(needsApply(have, wanted(other), "me"));
    }),
    { numRuns: 500 },
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([k, v]) => [k, sorted(v)]),
  );
}
