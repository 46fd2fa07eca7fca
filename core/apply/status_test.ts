import { assert, assertFalse } from "@std/assert";
import fc from "fast-check";
import { statusChanged } from "./status.ts";

Deno.test("statusChanged() passes over volatile fields at any depth", () => {
  const old = { devices: [{ name: "a", lastSeen: "1" }], lastSync: "1" };
  const next = { devices: [{ name: "a", lastSeen: "2" }], lastSync: "2" };
  assertFalse(statusChanged(old, next, ["lastSeen", "lastSync"]));
  assert(statusChanged(old, next, ["lastSync"]));
});

Deno.test("statusChanged() sees what is new, gone, moved or of another type", () => {
  assert(statusChanged({}, { a: 1 }, []));
  assert(statusChanged({ a: 1 }, {}, []));
  assert(statusChanged({ a: [1, 2] }, { a: [2, 1] }, []));
  assert(statusChanged({ a: [1] }, { a: [1, 2] }, []));
  assert(statusChanged({ a: "1" }, { a: 1 }, []));
  assert(statusChanged(undefined, {}, []));
});

Deno.test("statusChanged() takes null and absent for the same", () => {
  assertFalse(statusChanged({ a: null }, {}, []));
  assertFalse(statusChanged(undefined, null, []));
});

Deno.test("statusChanged() is false for equal JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    assertFalse(statusChanged(value, JSON.parse(JSON.stringify(value)), []));
  }));
});
