import { assertEquals } from "@std/assert";
import { apiVersionOf, keyOf, objectKey, splitKey } from "./object.ts";

Deno.test("apiVersionOf() leaves out the core group", () => {
  assertEquals(apiVersionOf({ group: "", version: "v1" }), "v1");
  assertEquals(apiVersionOf({ group: "apps", version: "v1" }), "apps/v1");
});

Deno.test("keys of namespaced and cluster-scoped objects are split into what they were made of", () => {
  for (const [namespace, name] of [["apps", "web"], [undefined, "corp"]] as const) {
    const key = objectKey(namespace, name);
    assertEquals(splitKey(key), namespace ? { namespace, name } : { name });
    assertEquals(keyOf({ metadata: { name, ...(namespace ? { namespace } : {}) } }), key);
  }
});
