import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { Backend, HealthCheck, Upstream } from "../backends/backend.ts";
import { codec } from "../proto/codec.ts";
import type { Cluster } from "../proto/types.ts";
import { encodeCluster, METADATA_KEY, PROXY_ADDRESS_KEY } from "./encode_cluster.ts";

const cluster = codec("envoy.config.cluster.v3.Cluster");

const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(0, 1, 2 ** 31, NaN, Infinity));
const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain(), fc.string());
const target = fc.record({ address, port: fc.oneof(fc.integer({ min: 1, max: 65535 }), number) });

const upstream: fc.Arbitrary<Upstream> = fc.tuple(
  target,
  fc.record({
    name: fc.string(),
    weight: number,
    dns: fc.boolean(),
    proxy: target,
    hostname: fc.string(),
  }, { requiredKeys: ["name", "weight"] }),
).map(([to, rest]) => ({ ...to, ...rest }));

const healthCheck: fc.Arbitrary<HealthCheck> = fc.record({
  type: fc.constantFrom("HTTP", "GRPC", "TCP"),
  path: fc.string(),
  intervalMs: number,
  timeoutMs: number,
  healthyThreshold: number,
  unhealthyThreshold: number,
}, { requiredKeys: ["type", "intervalMs", "timeoutMs", "healthyThreshold", "unhealthyThreshold"] });

const anyBackend: fc.Arbitrary<Backend> = fc.record({
  protocol: fc.constantFrom("HTTP", "HTTP2", "TCP"),
  priorities: fc.array(fc.array(upstream, { maxLength: 4 }), { maxLength: 4 }),
  healthCheck,
}, { requiredKeys: ["protocol", "priorities"] });

function decoded(backend: Backend): { plain: Cluster; checked: Cluster; problems: number } {
  const { encoded, problems } = encodeCluster("c", backend);
  return {
    plain: cluster.decode(encoded.endpoints),
    checked: cluster.decode(encoded.checkedEndpoints),
    problems: problems.length,
  };
}

Deno.test("encodeCluster renders any backend to what Envoy's validation rules accept", () => {
  fc.assert(fc.property(anyBackend, (backend) => {
    const { plain, checked, problems } = decoded(backend);
    for (const { loadAssignment } of [plain, checked]) {
      const localities = loadAssignment?.endpoints ?? [];
      assertEquals(loadAssignment?.clusterName, "c");
      let count = 0;
      for (const [i, { priority, loadBalancingWeight, lbEndpoints }] of localities.entries()) {
        assertEquals(priority ?? 0, i);
        assert(loadBalancingWeight!.value! >= 1);
        assert(lbEndpoints!.length > 0);
        for (const { endpoint, loadBalancingWeight } of lbEndpoints!) {
          const { address, portValue } = endpoint!.address!.socketAddress!;
          assert(address !== "" && portValue! >= 1 && portValue! <= 65535);
          assert(loadBalancingWeight!.value! >= 1 && loadBalancingWeight!.value! <= 1_000_000);
          count++;
        }
      }
      const lost = backend.healthCheck?.type === "GRPC" && backend.protocol !== "HTTP2" ? 1 : 0;
      assertEquals(count + problems - lost, backend.priorities.flat().length);
      assertEquals(
        loadAssignment?.policy !== undefined && localities.length > 1,
        localities.length > 1,
      );
    }
    for (const check of checked.healthChecks ?? []) {
      for (const { seconds = 0, nanos = 0 } of [check.interval!, check.timeout!]) {
        assert(Number(seconds) * 1e9 + nanos > 0 && nanos < 1e9);
      }
      assert(check.healthyThreshold!.value! >= 1 && check.unhealthyThreshold!.value! >= 1);
    }
    assertEquals(plain.healthChecks?.length ?? 0, 0);
  }));
});

Deno.test("encodeCluster is STRICT_DNS as soon as one upstream is a DNS name", () => {
  const one = (dns: boolean): Upstream => ({
    name: "a",
    address: "10.0.0.1",
    port: 1,
    weight: 1,
    dns,
  });
  const type = (...upstreams: Upstream[]) =>
    decoded({ protocol: "HTTP", priorities: [[], upstreams] }).plain.type;
  assertEquals(type(one(false), one(false)), 0);
  assertEquals(type(one(false), one(true)), 1);
  assertEquals(type(), 0);
});

Deno.test("encodeCluster puts the egress proxy where Envoy's CONNECT socket looks for it", () => {
  const proxy = { address: "fd00::7", port: 1055 };
  const upstreams = [{ name: "api", address: "100.64.0.1", port: 80, weight: 1, proxy }];
  const { encoded } = encodeCluster("c", { protocol: "HTTP", priorities: [upstreams] });
  assert(encoded.proxied);
  const [locality] = cluster.decode(encoded.endpoints).loadAssignment!.endpoints!;
  const { typedFilterMetadata, filterMetadata } = locality!.lbEndpoints![0]!.metadata!;
  const any = typedFilterMetadata![PROXY_ADDRESS_KEY]!;
  assertEquals(any.type_url, "type.googleapis.com/envoy.config.core.v3.Address");
  const address = codec("envoy.config.core.v3.Address").decode(any.value!);
  assertEquals(address.socketAddress?.address, "fd00::7");
  assertEquals(address.socketAddress?.portValue, 1055);
  assertEquals(filterMetadata![METADATA_KEY]!.fields!.endpoint!.stringValue, "api");
});

Deno.test("encodeCluster asks HTTP and gRPC health checks for the upstream's own host", () => {
  const upstreams = [{
    name: "a",
    address: "100.64.0.1",
    port: 80,
    weight: 1,
    hostname: "a.ts.net",
  }];
  const host = (type: HealthCheck["type"], which: "plain" | "checked") => {
    const healthCheck = {
      type,
      intervalMs: 1000,
      timeoutMs: 500,
      healthyThreshold: 1,
      unhealthyThreshold: 1,
    };
    const backend = { protocol: "HTTP2" as const, priorities: [upstreams], healthCheck };
    const [locality] = decoded(backend)[which].loadAssignment!.endpoints!;
    return locality!.lbEndpoints![0]!.endpoint!.healthCheckConfig?.hostname;
  };
  assertEquals(host("HTTP", "checked"), "a.ts.net");
  assertEquals(host("GRPC", "checked"), "a.ts.net");
  assertEquals(host("TCP", "checked"), undefined);
  // The user's own health checks say their Host themselves.
  assertEquals(host("HTTP", "plain"), undefined);
});
