import { assertEquals } from "@std/assert";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { finalizerAction, hasFinalizer } from "./finalizer.ts";
import { endpoints } from "./testing/builders.ts";

Deno.test("the finalizer is applied with the object's identity alone, so that nothing else is ours", () => {
  const action = finalizerAction(TailscaleEndpoints.resource, endpoints(), true);
  assertEquals(action, {
    do: "apply",
    type: TailscaleEndpoints.resource,
    object: {
      apiVersion: "gateway.tailscale.com/v1alpha1",
      kind: "TailscaleEndpoints",
      metadata: {
        name: "intranet",
        namespace: "apps",
        uid: "uid-of-intranet",
        finalizers: ["gateway.tailscale.com/finalizer"],
      },
    },
  });
});

Deno.test("the finalizer is dropped by applying the identity without it", () => {
  const action = finalizerAction(TailscaleEndpoints.resource, endpoints(), false);
  assertEquals(action.do === "apply" && "finalizers" in action.object.metadata, false);
});

Deno.test("hasFinalizer() looks for ours among others'", () => {
  const held = (finalizers?: string[]) =>
    hasFinalizer(endpoints("x", {}, finalizers ? { finalizers } : { finalizers: [] }));
  const all = [held(), held(["x/y"]), held(["x/y", "gateway.tailscale.com/finalizer"])];
  assertEquals(all, [false, false, true]);
});
