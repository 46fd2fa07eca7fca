import { assertEquals } from "@std/assert";
import type { JsonMap } from "./json.ts";
import { FieldRules } from "./list_rules.ts";
import { strategicMergePatch } from "./strategic_patch.ts";

const POD = new FieldRules({ group: "", kind: "Pod", builtin: true });

function patchSpec(spec: JsonMap, patch: JsonMap): unknown {
  return strategicMergePatch({ spec }, { spec: patch }, POD)["spec"];
}

Deno.test("a strategic merge patch merges containers by name", () => {
  const spec = { containers: [{ name: "a", image: "1" }, { name: "b", image: "1" }] };
  const patch = { containers: [{ name: "b", image: "2" }, { name: "c", image: "3" }] };
  assertEquals(patchSpec(spec, patch), {
    containers: [{ name: "a", image: "1" }, { name: "b", image: "2" }, { name: "c", image: "3" }],
  });
});

Deno.test("a strategic merge patch deletes an item, and sorts by the order that it gives", () => {
  const spec = { containers: [{ name: "a" }, { name: "b" }, { name: "c" }] };
  const patch = {
    "$setElementOrder/containers": [{ name: "c" }, { name: "a" }],
    containers: [{ name: "b", "$patch": "delete" }],
  };
  assertEquals(patchSpec(spec, patch), { containers: [{ name: "c" }, { name: "a" }] });
});

Deno.test("a strategic merge patch replaces atomic lists and removes members that are null", () => {
  const spec = { tolerations: [{ key: "a" }], hostname: "h", nodeSelector: { x: "1" } };
  const patch = { tolerations: [{ key: "b" }], hostname: null, nodeSelector: { y: "2" } };
  assertEquals(patchSpec(spec, patch), {
    tolerations: [{ key: "b" }],
    nodeSelector: { x: "1", y: "2" },
  });
});

Deno.test("a strategic merge patch edits finalizers as a set and maps as its directives say", () => {
  const object = {
    metadata: { finalizers: ["a/a", "b/b"] },
    spec: { volumes: [{ name: "v", emptyDir: {} }] },
  };
  const patch = {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["a/a"], finalizers: ["c/c"] },
    spec: {
      volumes: [{ name: "v", "$retainKeys": ["name", "secret"], secret: { secretName: "s" } }],
    },
  };
  assertEquals(strategicMergePatch(object, patch, POD), {
    metadata: { finalizers: ["b/b", "c/c"] },
    spec: { volumes: [{ name: "v", secret: { secretName: "s" } }] },
  });
});
