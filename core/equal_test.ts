import { assert, assertFalse } from "@std/assert";
import fc from "fast-check";
import { deepEqual } from "./equal.ts";

Deno.test("deepEqual() is blind to the order of members, and to nothing else", () => {
  assert(deepEqual({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }));
  const different: [unknown, unknown][] = [
    [{ a: 1 }, { a: 1, b: undefined }],
    [[1, 2], [2, 1]],
    [[], {}],
    [null, undefined],
    ["1", 1],
    [{ a: 1 }, { a: 2 }],
  ];
  for (const [a, b] of different) assertFalse(deepEqual(a, b), JSON.stringify([a, b]));
});

Deno.test("deepEqual() finds any JSON value equal to its copy", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    // JSON has no -0: it is written as 0.
    const written = JSON.parse(JSON.stringify(value));
    assert(deepEqual(written, JSON.parse(JSON.stringify(written))));
  }));
});
