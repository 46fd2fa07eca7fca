import { assert, assertEquals, assertFalse } from "@std/assert";
import { controllerRef, isControlledBy, labelsFor } from "./labels.ts";
import type { KubeObject } from "./object.ts";

function object(name: string, uid = "u1", namespace?: string): KubeObject {
  return {
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: "TailscaleEndpoints",
    metadata: { name, uid, ...(namespace ? { namespace } : {}) },
  };
}

Deno.test("labelsFor() says who made an object, for whom and in which tailnet", () => {
  assertEquals(labelsFor(object("web", "u1", "apps"), "corp"), {
    "app.kubernetes.io/managed-by": "tailscale-gateway",
    "gateway.tailscale.com/parent-kind": "TailscaleEndpoints",
    "gateway.tailscale.com/parent-namespace": "apps",
    "gateway.tailscale.com/parent-name": "web",
    "gateway.tailscale.com/tailnet": "corp",
  });
});

Deno.test("M84 labelsFor() leaves out what there is not, and shortens what does not fit", () => {
  const labels = labelsFor(object("x".repeat(200)), "t".repeat(200));
  assertEquals("gateway.tailscale.com/parent-namespace" in labels, false);
  for (const value of Object.values(labels)) assert(value.length <= 63, value);
});

Deno.test("isControlledBy() knows the owner by its uid alone, and only as the controller", () => {
  const owner = object("web");
  const by = (refs: ReturnType<typeof controllerRef>[]) =>
    isControlledBy({ name: "made", ownerReferences: refs }, owner);
  assert(by([controllerRef(owner)]));
  assertFalse(by([controllerRef(object("web", "u2"))]));
  assertFalse(by([{ ...controllerRef(owner), controller: false }]));
  assertFalse(by([]));
  assertFalse(isControlledBy({ name: "made" }, owner));
});
