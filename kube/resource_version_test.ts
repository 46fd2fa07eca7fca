import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { compareResourceVersions, isOlder } from "./resource_version.ts";

Deno.test("compareResourceVersions() orders as whole numbers of any size do", () => {
  const version = fc.bigInt({ min: 0n, max: 1n << 80n });
  fc.assert(fc.property(version, version, (a, b) => {
    const order = compareResourceVersions(String(a), String(b));
    assertEquals(Math.sign(order!), a < b ? -1 : a > b ? 1 : 0);
  }));
});

Deno.test("compareResourceVersions() knows only equality for versions that are no numbers", () => {
  assertEquals(compareResourceVersions("a1", "a1"), 0);
  assertEquals(compareResourceVersions("a1", "a2"), undefined);
  assertEquals(compareResourceVersions("007", "8"), undefined);
  assertEquals(compareResourceVersions("", "8"), undefined);
  assertEquals(compareResourceVersions(undefined, undefined), undefined);
});

Deno.test("isOlder() is false where the order is not known", () => {
  assert(isOlder("9", "10"));
  assertFalse(isOlder("10", "10"));
  assertFalse(isOlder("x", "10"));
  assertFalse(isOlder("9", undefined));
});
