import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  difference,
  fieldSet,
  fromFieldsV1,
  intersection,
  isEmpty,
  members,
  toFieldsV1,
  union,
  withNamedAncestors,
} from "./field_set.ts";

const element = fc.constantFrom("f:a", "f:b", 'k:{"name":"x"}', 'v:"y"');
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 });
const sets = paths.map(fieldSet);

function texts(set: Parameters<typeof members>[0]): string[] {
  return [...members(set)].map((path) => path.join(" ")).sort();
}

Deno.test("fieldsV1 marks members that have children with a dot", () => {
  const set = fieldSet([["f:spec", "f:list", 'k:{"name":"a"}'], [
    "f:spec",
    "f:list",
    'k:{"name":"a"}',
    "f:name",
  ]]);
  assertEquals(toFieldsV1(set), {
    "f:spec": { "f:list": { 'k:{"name":"a"}': { ".": {}, "f:name": {} } } },
  });
});

Deno.test("a set survives fieldsV1 and back", () => {
  fc.assert(fc.property(sets, (set) => {
    assertEquals(texts(fromFieldsV1(toFieldsV1(set))), texts(set));
  }));
});

Deno.test("union, intersection and difference are those of the members", () => {
  fc.assert(fc.property(sets, sets, (a, b) => {
    const [left, right] = [texts(a), texts(b)];
    assertEquals(texts(union(a, b)), [...new Set([...left, ...right])].sort());
    assertEquals(texts(intersection(a, b)), left.filter((path) => right.includes(path)));
    assertEquals(texts(difference(a, b)), left.filter((path) => !right.includes(path)));
    assert(isEmpty(difference(a, a)));
  }));
});

Deno.test("withNamedAncestors adds the fields above a member, but no items of lists", () => {
  const set = withNamedAncestors(fieldSet([["f:a", 'k:{"name":"x"}', "f:c"]]));
  assertEquals(texts(set), ["f:a", 'f:a k:{"name":"x"} f:c']);
});
