import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { boundedName, labelValue, MAX_STATEFULSET_NAME } from "./names.ts";

Deno.test("boundedName() leaves a name that fits", () => {
  assertEquals(boundedName("web", "-egress", MAX_STATEFULSET_NAME), "web-egress");
  assertEquals(boundedName("a".repeat(45), "-egress", 52), "a".repeat(45) + "-egress");
});

Deno.test("M80 boundedName() shortens names of 53 and 63 characters and keeps them apart", () => {
  for (const length of [53, 63]) {
    const one = boundedName("a".repeat(length - 1) + "b", "-egress", MAX_STATEFULSET_NAME);
    const two = boundedName("a".repeat(length - 1) + "c", "-egress", MAX_STATEFULSET_NAME);
    assert(one.length <= MAX_STATEFULSET_NAME);
    assertMatch(one, /^a+-[0-9a-f]{8}-egress$/);
    assertNotEquals(one, two);
  }
});

Deno.test("boundedName() leaves no separator before the hash", () => {
  const name = boundedName("a".repeat(30) + "-----------" + "b".repeat(30), "-egress", 52);
  assertMatch(name, /^a+-[0-9a-f]{8}-egress$/);
});

Deno.test("labelValue() fits 63 characters", () => {
  assertEquals(labelValue("x").length, 1);
  assertEquals(labelValue("x".repeat(80)).length, 63);
});
