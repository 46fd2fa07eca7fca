import { assertEquals } from "@std/assert";
import { itemId, keepManagers, ownedItems, ownershipOf } from "./managed_fields.ts";

const object = (managedFields: object[]) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", managedFields },
});
const entry = (manager: string, more: object = {}) => ({
  manager,
  operation: "Apply",
  apiVersion: "v1",
  fieldsV1: { "f:data": {} },
  ...more,
});

Deno.test("ownershipOf() finds what the manager has applied, not its updates or its status", () => {
  const others = [
    entry("other"),
    entry("me", { operation: "Update" }),
    entry("me", { subresource: "status" }),
  ];
  assertEquals(ownershipOf(object(others), "me"), undefined);
  assertEquals(ownershipOf(object([...others, entry("me")]), "me"), {
    apiVersion: "v1",
    fields: { "f:data": {} },
  });
});

Deno.test("ownershipOf() says when it can't know", () => {
  assertEquals(ownershipOf(object([]), "me"), "unknown");
});

Deno.test("ownedItems() reads items by keys and by value", () => {
  const { keys, items } = ownedItems({
    ".": {},
    'k:{"containerPort":80,"protocol":"TCP"}': { "f:name": {} },
  });
  assertEquals(keys, ["containerPort", "protocol"]);
  assertEquals([...items], [['[80,"TCP"]', { "f:name": {} }]]);
  assertEquals(ownedItems({ 'v:"a"': {}, 'v:"b"': {} }).values, ['"a"', '"b"']);
});

Deno.test("itemId() gives a key that an item leaves out its default", () => {
  const keys = ["port", "protocol"];
  assertEquals(itemId({ port: 80 }, keys), itemId({ port: 80, protocol: "TCP" }, keys));
});

Deno.test("keepManagers() drops the others' fields, and leaves that there were others", () => {
  const trim = keepManagers(["me"]);
  assertEquals(trim(object([entry("me"), entry("x")])), object([entry("me")]));
  assertEquals(ownershipOf(trim(object([entry("x")])), "me"), undefined);
  assertEquals(trim(object([])), object([]));
});
