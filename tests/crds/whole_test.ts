import { assert, assertEquals } from "@std/assert";
import { admit } from "../../api/admission.ts";
import { kindNamed } from "../../api/registry.ts";
import { assertReasonsListed } from "../../controllers/testing/conditions.ts";
import { WHOLE } from "./whole.ts";

/** The object is admitted, loses no field, and has no reason that its kind does not list. */
function isKept(kind: keyof typeof WHOLE): void {
  const object = WHOLE[kind];
  const admission = admit(object);
  assert("object" in admission, JSON.stringify(admission));
  assertEquals(admission.object, object);
  const { conditions = {} } = kindNamed(kind) ?? {};
  const { ancestors = [] } = object.status as { ancestors?: unknown[] };
  for (const status of [object.status, ...ancestors]) assertReasonsListed(status, conditions);
}

Deno.test("M21 M22 M23 M24 M25 M27 M28 M29 M30 M31 M59 the schema of TailscaleEndpoints keeps every field", () =>
  isKept("TailscaleEndpoints"));

Deno.test("M33 M34 M35 M36 M37 M38 M39 M40 M41 M42 M43 M44 M45 the schema of TailscaleServices keeps every field", () =>
  isKept("TailscaleServices"));

Deno.test("M47 M48 M49 M50 M51 M52 M53 the schema of TailscaleGateway keeps every field", () =>
  isKept("TailscaleGateway"));

Deno.test("M54 M56 the schema of TailscaleRoutePolicy keeps every field", () =>
  isKept("TailscaleRoutePolicy"));

Deno.test("M55 the schema of TailscaleProxyGroup keeps every field", () =>
  isKept("TailscaleProxyGroup"));

Deno.test("M50 M51 a TailscaleGateway generates routes by the documented patterns unless it says otherwise", () => {
  const { spec, ...object } = WHOLE.TailscaleGateway;
  const [tailnet] = (spec as { tailnets: Record<string, unknown>[] }).tailnets;
  const { name, tailscaleTailnetRef } = tailnet ?? {};
  const admission = admit({
    ...object,
    spec: { gatewayRef: { name: "eg" }, tailnets: [{ name, tailscaleTailnetRef }] },
  });
  assert("object" in admission, JSON.stringify(admission));
  assertEquals(admission.object.spec as unknown, {
    gatewayRef: { name: "eg" },
    tailnets: [{
      name,
      tailscaleTailnetRef,
      routeGeneration: {
        ingress: {
          hostPattern: "{service}.{tailnet}.gateway.local",
          pathPrefix: "/",
          protocol: "HTTPS",
        },
        egress: {
          hostPattern: "{service}.tailscale.local",
          pathPrefix: "/tailscale/{service}/",
          protocol: "HTTP",
          delivery: "HTTPRoute",
        },
      },
    }],
    publish: { enabled: true, perRoute: false },
    networkPolicy: { enabled: true },
  });
});

Deno.test("M34 M38 a VIP service is approved and shared unless it says otherwise", () => {
  const { status: _, ...object } = WHOLE.TailscaleServices;
  const admission = admit({ ...object, spec: { selector: {} } });
  assert("object" in admission, JSON.stringify(admission));
  assertEquals(admission.object.spec as unknown, {
    selector: {},
    vipService: {
      autoApprove: true,
      sharing: "Attach",
      adopt: false,
      tls: "Passthrough",
      proxyProtocol: false,
    },
  });
});
