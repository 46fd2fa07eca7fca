import { assertEquals, assertThrows } from "@std/assert";
import { remembered } from "./remembered.ts";

Deno.test("remembered() works an answer out once for each object, even an undefined one", () => {
  let calls = 0;
  const fn = remembered((object: { name?: string }) => {
    calls++;
    return object.name;
  });
  const [one, other] = [{ name: "a" }, {}];
  assertEquals([fn(one), fn(other), fn(one), fn(other)], ["a", undefined, "a", undefined]);
  assertEquals(calls, 2);
  assertEquals(fn({ name: "a" }), "a");
  assertEquals(calls, 3);
});

Deno.test("remembered() does not remember a failure", () => {
  let fails = true;
  const fn = remembered((_object: object) => {
    if (fails) throw new Error("not yet");
    return 1;
  });
  const object = {};
  assertThrows(() => fn(object), Error, "not yet");
  fails = false;
  assertEquals(fn(object), 1);
});
