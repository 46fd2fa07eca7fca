import { assertEquals } from "@std/assert";
import { extensionMethods } from "../proto/codec.ts";
import { envoyGatewayConfig, HOOKS } from "./registry.ts";

Deno.test("M146 every method of Envoy Gateway's extension service is a hook", () => {
  assertEquals(HOOKS.map((hook) => hook.method).sort(), [...extensionMethods()].sort());
  for (const hook of HOOKS) {
    assertEquals(hook.method, `Post${hook.point.replace(/ion$/, "e")}Modify`);
  }
});

Deno.test("M146 M174 M250 envoyGatewayConfig registers the hooks that have work, and no others", () => {
  assertEquals(envoyGatewayConfig({ hostname: "operator.tailscale.svc", port: 5005 }), {
    backendResources: [
      { group: "gateway.tailscale.com", version: "v1alpha1", kind: "TailscaleEndpoints" },
      { group: "gateway.tailscale.com", version: "v1alpha1", kind: "TailscaleServices" },
    ],
    policyResources: [
      { group: "gateway.tailscale.com", version: "v1alpha1", kind: "TailscaleGatewayRevision" },
    ],
    hooks: {
      xdsTranslator: {
        post: ["Translation"],
        translation: {
          cluster: { includeAll: true },
          route: { includeAll: true },
          secret: { includeAll: false },
          listener: { includeAll: false },
        },
      },
    },
    service: { fqdn: { hostname: "operator.tailscale.svc", port: 5005 } },
    maxMessageSize: "64Mi",
    failOpen: false,
  });
});

Deno.test("envoyGatewayConfig takes other backend kinds and message sizes", () => {
  const config = envoyGatewayConfig({
    hostname: "h",
    port: 1,
    backendKinds: ["TailscaleEndpoints"],
    maxMessageBytes: 1_000_000,
  });
  assertEquals((config.backendResources as { kind: string }[]).map((r) => r.kind), [
    "TailscaleEndpoints",
  ]);
  assertEquals(config.maxMessageSize, "1000000");
});
