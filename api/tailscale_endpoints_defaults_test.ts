import { assertEquals } from "@std/assert";
import { TailscaleEndpoints, type TailscaleEndpointsSpec } from "./tailscale_endpoints.ts";
import { directionsOf, withDefaults } from "./tailscale_endpoints_defaults.ts";

type Written = Parameters<typeof TailscaleEndpoints.create>[1];

const resolved = (spec: Partial<Written> = {}) => withDefaults(stored(spec));

function stored(spec: Partial<Written>): TailscaleEndpointsSpec {
  return TailscaleEndpoints.create({ name: "a", namespace: "b" }, { tailnet: "corp", ...spec })
    .spec;
}

const firstEndpoint = (endpoint: NonNullable<Written["endpoints"]>[number]) =>
  resolved({ endpoints: [endpoint] }).endpoints[0];

Deno.test("M14 M15 withDefaults() gives two bidirectional userspace proxies without proxy and proxyGroup", () => {
  assertEquals(resolved().proxy, {
    replicas: 2,
    connectionType: "bidirectional",
    networking: "Userspace",
    privileged: false,
    ephemeral: false,
    acceptRoutes: true,
  });
});

Deno.test("withDefaults() gives no proxy where a proxyGroup is named", () => {
  const spec = resolved({ proxyGroup: "shared" });
  assertEquals([spec.proxy, spec.proxyGroup], [undefined, "shared"]);
});

Deno.test("withDefaults() keeps what was set", () => {
  const { proxy, tags } = resolved({ proxy: { replicas: 0 }, tags: ["tag:a"] });
  assertEquals([proxy?.replicas, proxy?.connectionType], [0, "bidirectional"]);
  assertEquals(tags, ["tag:a"]);
});

Deno.test("M19 withDefaults() names ports by protocol and port, and targets the same port", () => {
  const { ports } = resolved({
    ports: [{ port: 80 }, { port: 53, protocol: "UDP", targetPort: 5353 }, {
      name: "x",
      port: 443,
    }],
  });
  assertEquals(ports.map(({ name, targetPort }) => [name, targetPort]), [
    ["tcp-80", 80],
    ["udp-53", 5353],
    ["x", 443],
  ]);
});

Deno.test("M21 withDefaults() takes host and port of an endpoint from its externalTarget", () => {
  const endpoint = firstEndpoint({ name: "web", externalTarget: "[fd00::1]:8080" });
  assertEquals([endpoint?.externalHost, endpoint?.port], ["fd00::1", 8080]);
});

Deno.test("withDefaults() checks the health of HTTP and gRPC, and of TCP only when asked", () => {
  const check = (
    protocol: "HTTP" | "HTTPS" | "HTTP2" | "GRPC" | "TLS" | "TCP" | "UDP",
    healthCheck?: { enabled?: boolean },
  ) => {
    const endpoint = { name: "a", tailscaleIP: "100.64.0.1", port: 1, protocol };
    const found = firstEndpoint({ ...endpoint, ...(healthCheck ? { healthCheck } : {}) });
    return [found?.healthCheck.enabled, found?.healthCheck.type];
  };
  for (const protocol of ["HTTP", "HTTPS", "HTTP2"] as const) {
    assertEquals(check(protocol), [true, "HTTP"]);
  }
  assertEquals(check("GRPC"), [true, "GRPC"]);
  assertEquals(check("HTTP", { enabled: false }), [false, "HTTP"]);
  assertEquals(check("HTTP", {}), [true, "HTTP"]);
  assertEquals(check("TCP"), [false, "TCP"]);
  assertEquals(check("TLS", {}), [false, "TCP"]);
  assertEquals(check("TCP", { enabled: true }), [true, "TCP"]);
  assertEquals(check("UDP"), [false, "TCP"]);
});

Deno.test("withDefaults() gives health checks the same values with and without healthCheck", () => {
  const endpoint = { name: "a", tailscaleIP: "100.64.0.1", port: 1 };
  assertEquals(firstEndpoint(endpoint), firstEndpoint({ ...endpoint, healthCheck: {} }));
  assertEquals(firstEndpoint(endpoint)?.healthCheck, {
    enabled: true,
    type: "HTTP",
    path: "/",
    intervalMs: 10_000,
    timeoutMs: 5000,
    healthyThreshold: 1,
    unhealthyThreshold: 3,
  });
});

Deno.test("M22 withDefaults() leaves discovery off, and gives it the documented values", () => {
  const off = {
    enabled: false,
    patterns: [],
    excludePatterns: [],
    tags: [],
    port: 80,
    protocol: "HTTP",
    syncIntervalMs: 30_000,
  } as const;
  assertEquals(resolved().autoDiscovery, off);
  assertEquals(resolved({ autoDiscovery: { enabled: true } }).autoDiscovery, {
    ...off,
    enabled: true,
  });
});

Deno.test("M66 directionsOf() gives one direction, or both", () => {
  assertEquals(directionsOf("ingress"), ["ingress"]);
  assertEquals(directionsOf("egress"), ["egress"]);
  assertEquals(directionsOf("bidirectional"), ["ingress", "egress"]);
});
