import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { clusterNameOf, isRouteCluster, parseClusterName, type RouteKind } from "./cluster_name.ts";

const KINDS: RouteKind[] = ["HTTPRoute", "GRPCRoute", "TCPRoute", "TLSRoute", "UDPRoute"];

Deno.test("parseClusterName reads the names that Envoy Gateway gives to routes' clusters", () => {
  const route = { namespace: "apps", name: "web.v2" };
  const cases: [string, unknown][] = [
    ["httproute/apps/web.v2/rule/0", { kind: "HTTPRoute", ...route, rule: 0 }],
    ["grpcroute/apps/web.v2/rule/15", { kind: "GRPCRoute", ...route, rule: 15 }],
    ["tcproute/apps/web.v2/rule/-1", { kind: "TCPRoute", ...route, rule: -1 }],
    ["tlsroute/apps/web.v2/rule/-1", { kind: "TLSRoute", ...route, rule: -1 }],
    ["udproute/apps/web.v2/rule/-1", { kind: "UDPRoute", ...route, rule: -1 }],
    ["httproute/apps/web.v2/rule/3/backend/1", {
      kind: "HTTPRoute",
      ...route,
      rule: 3,
      backend: 1,
    }],
  ];
  for (const [name, expected] of cases) assertEquals(parseClusterName(name), expected);
});

Deno.test("parseClusterName leaves every other name alone", () => {
  const names = [
    "",
    "/",
    "envoy-gateway-system/envoy-gateway",
    "default/eg",
    "prometheus_stats",
    "accesslog_otel_0_0",
    "httproute/apps/web/rule/0-mirror-1",
    "httproute/apps/web/rule/-1",
    "httproute/apps/web/rule/01",
    "httproute/apps/web/rule/",
    "httproute/apps/web/rule/0/",
    "httproute/apps/web/rule/0/backend",
    "httproute/apps/web/rule/0/backend/-1",
    "httproute//web/rule/0",
    "HTTPRoute/apps/web/rule/0",
    "tcproute/apps/web/rule/0",
    "constructor/apps/web/rule/0",
    "httproute/apps/web/rule/99999999999999999999",
    "securitypolicy/apps/web/0",
  ];
  for (const name of names) {
    assertEquals(parseClusterName(name), { unknown: name });
    assertEquals(isRouteCluster(name), false);
  }
});

Deno.test("parseClusterName answers any text", () => {
  const word = fc.constantFrom("httproute", "tcproute", "rule", "backend", "-1", "0", "7", "a", "");
  const text = fc.oneof(fc.string({ unit: "binary" }), fc.array(word).map((w) => w.join("/")));
  fc.assert(
    fc.property(text, (name) => {
      const parsed = parseClusterName(name);
      if ("unknown" in parsed) assertEquals(parsed.unknown, name);
      else assert(name.startsWith(clusterNameOf(parsed, parsed.rule)));
      assertEquals(isRouteCluster(name), !("unknown" in parsed));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("parseClusterName is the inverse of clusterNameOf", () => {
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,40}$/);
  const route = fc.record({ kind: fc.constantFrom(...KINDS), namespace: name, name });
  fc.assert(fc.property(route, fc.nat({ max: 999_999_999 }), (of, rule) => {
    const numbered = of.kind === "HTTPRoute" || of.kind === "GRPCRoute";
    assertEquals(parseClusterName(clusterNameOf(of, rule)), { ...of, rule: numbered ? rule : -1 });
  }));
});
