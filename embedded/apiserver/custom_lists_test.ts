import { assertEquals } from "@std/assert";
import { BUILTIN_TYPES } from "./types.ts";
import { customList } from "./custom_lists.ts";
import { KINDS } from "../../api/registry.ts";

Deno.test("customList() takes the keys of a list from the CRD, with what their absence means", () => {
  assertEquals(customList("TailscaleEndpoints", "spec.ports"), {
    list: "map",
    keys: [{ name: "port" }, { name: "protocol", absent: "TCP" }],
  });
});

Deno.test("customList() knows lists in templates, in items of lists, and sets", () => {
  const name = { list: "map" as const, keys: [{ name: "name" }] };
  assertEquals(customList("TailscaleServices", "spec.endpointTemplate.endpoints"), name);
  assertEquals(customList("TailscaleGateway", "spec.tailnets"), name);
  assertEquals(customList("TailscaleGateway", "spec.tailnets.serviceDiscovery.patterns"), {
    list: "set",
  });
  assertEquals(customList("TailscaleProxyGroup", "spec.tags"), { list: "set" });
});

Deno.test("customList() leaves lists alone that are atomic, or that nobody knows", () => {
  assertEquals(customList("TailscaleRoutePolicy", "spec.rules"), undefined);
  assertEquals(customList("TailscaleRoutePolicy", "status.ancestors"), undefined);
  assertEquals(customList("TailscaleFoo", "spec.endpoints"), undefined);
});

Deno.test("every kind of ours is served, as its CRD names it", () => {
  const served = BUILTIN_TYPES.filter(({ group }) => group === "gateway.tailscale.com")
    .map(({ kind, plural, namespaced, shortNames = [] }) => ({
      kind,
      plural,
      namespaced,
      shortNames,
    }));
  const defined = KINDS.map(({ resource: { kind, plural, namespaced }, shortNames }) => ({
    kind,
    plural,
    namespaced,
    shortNames,
  }));
  assertEquals(served, defined);
});
