import { assertEquals, assertThrows } from "@std/assert";
import { groupPath, resourcePath } from "./path.ts";

const STATEFUL_SETS = {
  group: "apps",
  version: "v1",
  kind: "StatefulSet",
  plural: "statefulsets",
  namespaced: true,
};
const NAMESPACES = {
  group: "",
  version: "v1",
  kind: "Namespace",
  plural: "namespaces",
  namespaced: false,
};

Deno.test("resourcePath() names collections, objects and subresources", () => {
  assertEquals(resourcePath(STATEFUL_SETS), "/apis/apps/v1/statefulsets");
  assertEquals(resourcePath(STATEFUL_SETS, "a", "b"), "/apis/apps/v1/namespaces/a/statefulsets/b");
  assertEquals(
    resourcePath(STATEFUL_SETS, "a", "b", "status"),
    "/apis/apps/v1/namespaces/a/statefulsets/b/status",
  );
});

Deno.test("resourcePath() leaves the namespace out for cluster-scoped kinds", () => {
  assertEquals(resourcePath(NAMESPACES, "ignored", "apps"), "/api/v1/namespaces/apps");
});

Deno.test("resourcePath() lets no name climb out of its place", () => {
  assertEquals(
    resourcePath(NAMESPACES, undefined, "a/../../b"),
    "/api/v1/namespaces/a%2F..%2F..%2Fb",
  );
  assertThrows(() => resourcePath(NAMESPACES, undefined, ".."), TypeError);
  assertThrows(() => resourcePath(NAMESPACES, undefined, ""), TypeError);
});

Deno.test("groupPath() knows the core group", () => {
  assertEquals(groupPath({ group: "", version: "v1" }), "/api/v1");
  assertEquals(groupPath({ group: "apps", version: "v1" }), "/apis/apps/v1");
});
