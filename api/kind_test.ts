import { assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { crdOf } from "./crd.ts";
import { conditionColumn, defineKind, namesOf } from "./kind.ts";
import { kindNamed, KINDS } from "./registry.ts";

const Foo = defineKind({
  kind: "TailscaleFoo",
  plural: "tailscalefoos",
  scope: "Namespaced",
  shortNames: ["tsfoo"],
  categories: ["tailscale"],
  description: "A foo.",
  spec: z.object({ size: z.int().min(1).default(3).describe("The size.") }),
  status: z.object({}),
  columns: [conditionColumn("Ready", { condition: "Ready", field: "status" })],
  labels: { "gateway.networking.k8s.io/policy": "Direct" },
  rules: [{ rule: "self.spec.size != 13", message: "13 is unlucky" }],
  conditions: {},
  reasons: {},
  example: {},
});

Deno.test("defineKind() names the kind as the API server does", () => {
  assertEquals(Foo.resource, {
    group: "gateway.tailscale.com",
    version: "v1alpha1",
    kind: "TailscaleFoo",
    plural: "tailscalefoos",
    namespaced: true,
  });
});

Deno.test("create() makes an object with the defaults of the schema", () => {
  assertEquals(Foo.create({ name: "a", namespace: "b" }, {}), {
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: "TailscaleFoo",
    metadata: { name: "a", namespace: "b" },
    spec: { size: 3 },
  });
  assertThrows(() => Foo.create({ name: "a" }, { size: 0 }), z.ZodError);
});

Deno.test("a further kind is one definition: its CRD has names, labels, columns and rules", () => {
  const { metadata, spec } = crdOf(Foo);
  assertEquals(metadata, {
    name: "tailscalefoos.gateway.tailscale.com",
    labels: { "gateway.networking.k8s.io/policy": "Direct" },
  });
  assertEquals(spec.names.shortNames, ["tsfoo"]);
  assertEquals(spec.versions[0]?.additionalPrinterColumns, [{
    name: "Ready",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="Ready")].status',
    description: "The status of the condition Ready.",
  }]);
  const rules = spec.versions[0]?.schema.openAPIV3Schema["x-kubernetes-validations"] ?? [];
  assertEquals(rules.at(-1)?.message, "13 is unlucky");
});

Deno.test("namesOf() gives each name as itself", () => {
  assertEquals(namesOf({ A: "first", B: "second" }), { A: "A", B: "B" });
});

Deno.test("M1 every kind is of one group and version, with the category tailscale", () => {
  for (const { resource, categories } of KINDS) {
    assertEquals([resource.group, resource.version], ["gateway.tailscale.com", "v1alpha1"]);
    assertEquals(categories, ["tailscale"]);
  }
});

Deno.test("M2 M54 M55 scopes and short names are those of the contract", () => {
  assertEquals(KINDS.map(({ kind, scope, shortNames }) => [kind, scope, ...shortNames]), [
    ["TailscaleTailnet", "Cluster", "tstn"],
    ["TailscaleEndpoints", "Namespaced", "tsep"],
    ["TailscaleServices", "Namespaced", "tssvc"],
    ["TailscaleGateway", "Namespaced", "tsgw"],
    ["TailscaleRoutePolicy", "Namespaced", "tsrp"],
    ["TailscaleProxyGroup", "Namespaced", "tspg"],
    ["TailscaleGatewayRevision", "Namespaced"],
  ]);
});

Deno.test("only TailscaleRoutePolicy is a policy that users attach", () => {
  const labelled = KINDS.filter(({ labels }) => labels !== undefined);
  assertEquals(labelled.map(({ kind, labels }) => [kind, labels]), [
    ["TailscaleRoutePolicy", { "gateway.networking.k8s.io/policy": "Direct" }],
  ]);
});

Deno.test("every kind says with two conditions or more how it fares, but the internal one", () => {
  const types = KINDS.map(({ kind, conditions }) => [kind, ...Object.keys(conditions)]);
  assertEquals(types, [
    ["TailscaleTailnet", "Authenticated", "Ready"],
    [
      "TailscaleEndpoints",
      ...["Accepted", "ResolvedRefs", "StatefulSetsReady", "DevicesReady", "Synced", "Ready"],
    ],
    ["TailscaleServices", "Accepted", "EndpointsSelected", "VIPServiceReady", "Ready"],
    [
      "TailscaleGateway",
      ...["Accepted", "GatewayValid", "TailnetsValid", "ExtensionServerReady", "ServicesReady"],
      ...["Programmed", "Ready"],
    ],
    ["TailscaleRoutePolicy", "Accepted", "Programmed"],
    ["TailscaleProxyGroup", "Accepted", "Ready"],
    ["TailscaleGatewayRevision", "Accepted"],
  ]);
});

Deno.test("reasons are a closed list: each belongs to a condition, and each is documented", () => {
  for (const { kind, conditions, reasons } of KINDS) {
    const used = Object.values(conditions).flatMap((condition) => condition.reasons);
    assertEquals(new Set(used), new Set(Object.keys(reasons)), kind);
    for (const { reasons } of Object.values(conditions)) {
      assertEquals(new Set(reasons).size, reasons.length, kind);
    }
  }
});

Deno.test("kindNamed() finds our kinds only", () => {
  assertEquals(kindNamed("TailscaleTailnet")?.plural, "tailscaletailnets");
  assertEquals(kindNamed("Secret"), undefined);
});
