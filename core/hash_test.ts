import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { shortHash, stableJson } from "./hash.ts";

Deno.test("stableJson() writes members in order of their names, at every depth, and keeps lists", () => {
  assertEquals(stableJson({ b: [{ d: 1, c: 2 }, 3], a: null }), '{"a":null,"b":[{"c":2,"d":1},3]}');
});

Deno.test("shortHash() is the beginning of a SHA-256, and the same on every machine", () => {
  // `printf abc | sha256sum`
  assertEquals(shortHash("abc"), "ba7816bf");
  assertEquals(shortHash("abc", 16), "ba7816bf8f01cfea");
  assertEquals(shortHash({ a: 1, b: 2 }), shortHash({ b: 2, a: 1 }));
});

Deno.test("shortHash() keeps different values apart", () => {
  const values = ["", "a", ["a"], { a: "" }, { a: null }, [], {}, 0, null];
  const hashes = values.map((value) => shortHash(value));
  for (const hash of hashes) assertMatch(hash, /^[0-9a-f]{8}$/);
  assertEquals(new Set(hashes).size, values.length);
  assertNotEquals(shortHash(["a", "b"]), shortHash(["b", "a"]));
});
