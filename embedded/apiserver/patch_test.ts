import { assertEquals, assertThrows } from "@std/assert";
import { ApiError } from "./errors.ts";
import type { Json, JsonMap } from "./json.ts";
import { jsonPatch, mergePatch } from "./patch.ts";

/** The cases of RFC 7386, appendix A. */
const MERGES: readonly (readonly [target: Json, patch: Json, result: Json])[] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [["a", "b"], ["c", "d"], ["c", "d"]],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

Deno.test("a merge patch does what RFC 7386 shows", () => {
  for (const [target, patch, result] of MERGES) assertEquals(mergePatch(target, patch), result);
});

/** Cases after RFC 6902, appendix A. */
const PATCHES: readonly (readonly [target: JsonMap, operation: JsonMap, result: JsonMap])[] = [
  [{ a: 1 }, { op: "add", path: "/b", value: 2 }, { a: 1, b: 2 }],
  [{ a: [1, 3] }, { op: "add", path: "/a/1", value: 2 }, { a: [1, 2, 3] }],
  [{ a: [1] }, { op: "add", path: "/a/-", value: 2 }, { a: [1, 2] }],
  [{ a: 1, b: 2 }, { op: "remove", path: "/b" }, { a: 1 }],
  [{ a: [1, 2, 3] }, { op: "remove", path: "/a/1" }, { a: [1, 3] }],
  [{ a: 1 }, { op: "replace", path: "/a", value: 2 }, { a: 2 }],
  [{ a: { x: 1 }, b: {} }, { op: "move", from: "/a/x", path: "/b/y" }, { a: {}, b: { y: 1 } }],
  [{ a: [1, 2, 3] }, { op: "move", from: "/a/0", path: "/a/2" }, { a: [2, 3, 1] }],
  [{ a: { x: 1 } }, { op: "copy", from: "/a", path: "/b" }, { a: { x: 1 }, b: { x: 1 } }],
  [{ a: 1 }, { op: "test", path: "/a", value: 1 }, { a: 1 }],
  [{ "a/b": 1, "m~n": 2 }, { op: "remove", path: "/a~1b" }, { "m~n": 2 }],
  [{ "m~n": 2 }, { op: "replace", path: "/m~0n", value: 3 }, { "m~n": 3 }],
];

Deno.test("a JSON patch does what RFC 6902 shows", () => {
  for (const [target, operation, result] of PATCHES) {
    assertEquals(jsonPatch(target, [operation]), result);
  }
});

Deno.test("replacing a member that is missing adds it, as with the API server's library", () => {
  const operation = { op: "replace", path: "/data/serve-config.json", value: "e30=" };
  assertEquals(jsonPatch({ data: {} }, [operation]), { data: { "serve-config.json": "e30=" } });
});

Deno.test("a JSON patch that does not fit is refused and leaves the target as it was", () => {
  const target: JsonMap = { a: 1, list: [1] };
  const misfits: JsonMap[] = [
    { op: "remove", path: "/b" },
    { op: "replace", path: "/b/c", value: 1 },
    { op: "add", path: "/list/7", value: 1 },
    { op: "test", path: "/a", value: 2 },
    { op: "add", path: "/a/b", value: 1 },
    { op: "go", path: "/a" },
  ];
  for (const misfit of misfits) {
    const first = { op: "add", path: "/new", value: true };
    const error = assertThrows(() => jsonPatch(target, [first, misfit]), ApiError);
    assertEquals(error.code, 422);
  }
  assertEquals(target, { a: 1, list: [1] });
});

Deno.test("a malformed JSON patch is a bad request", () => {
  for (const patch of [{}, [1], [{ op: "add", path: "a", value: 1 }]]) {
    assertEquals(assertThrows(() => jsonPatch({ a: 1 }, patch as Json), ApiError).code, 400);
  }
});
