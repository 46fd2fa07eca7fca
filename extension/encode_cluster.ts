/**
 * Encodes what a cluster of ours gets, once, when a snapshot is built: the hook
 * then only splices bytes.
 *
 * @module
 */
import { createHash } from "node:crypto";
import ipaddr from "ipaddr.js";
import type { Backend, HealthCheck, Upstream } from "../backends/backend.ts";
import { codec } from "../proto/codec.ts";
import type {
  Address,
  Duration,
  HealthCheck as EnvoyHealthCheck,
  LbEndpoint,
  LocalityLbEndpoints,
  Metadata,
} from "../proto/types.ts";

const cluster = codec("envoy.config.cluster.v3.Cluster");
const address = codec("envoy.config.core.v3.Address");

/** `envoy.config.cluster.v3.Cluster.DiscoveryType` */
const STATIC = 0, STRICT_DNS = 1;
/** `envoy.type.v3.CodecClientType` */
const HTTP1 = 0, HTTP2 = 1;

/** Where Envoy's `http_11_proxy` transport socket looks for an endpoint's proxy. */
export const PROXY_ADDRESS_KEY = "envoy.http11_proxy_transport_socket.proxy_address";

/** Where an endpoint says which entry it is, for access logs (`%UPSTREAM_METADATA%`). */
export const METADATA_KEY = "gateway.tailscale.com";

/**
 * With Envoy's default of 140 % a priority spills over while some of its endpoints
 * are healthy. With this one it holds all traffic as long as one in a thousand is.
 */
const OVERPROVISIONING_PERCENT = 100_000;

/** Keeps the sum of a priority's weights within 32 bits, as Envoy demands. */
const MAX_WEIGHT = 1_000_000;

const MAX_THRESHOLD = 1_000_000, MAX_DURATION_MS = 7 * 24 * 3_600_000;

/**
 * A cluster's new fields, each a run of whole encoded fields of
 * `envoy.config.cluster.v3.Cluster`.
 */
export interface EncodedCluster {
  /** Discovery type and endpoints, for a cluster that has health checks of its user's. */
  readonly endpoints: Uint8Array;
  /** Discovery type and endpoints with the Host of health checks, and the health checks. */
  readonly checkedEndpoints: Uint8Array;
  /** Whether some endpoint is reached through a proxy. */
  readonly proxied: boolean;
  /** Whether Envoy is to speak HTTP/2. */
  readonly http2: boolean;
  /** SHA-256 of the cluster's name and all of the above. */
  readonly digest: Uint8Array;
}

/** An encoded cluster, and what of the backend could not be expressed in it. */
export interface EncodeResult {
  readonly encoded: EncodedCluster;
  readonly problems: readonly string[];
}

/** Encodes a backend for the cluster of a name. */
export function encodeCluster(name: string, backend: Backend): EncodeResult {
  const problems: string[] = [];
  const priorities = usablePriorities(backend, problems);
  const upstreams = priorities.flat();
  const check = usableHealthCheck(backend, problems);
  const type = upstreams.some((u) => u.dns) ? STRICT_DNS : STATIC;
  const withEndpoints = (checkedBy?: HealthCheck) =>
    cluster.encode({
      type,
      loadAssignment: {
        clusterName: name,
        endpoints: priorities.map((list, priority) => locality(list, priority, checkedBy)),
        ...(priorities.length > 1
          ? { policy: { overprovisioningFactor: { value: OVERPROVISIONING_PERCENT } } }
          : {}),
      },
      ...(checkedBy ? { healthChecks: [healthCheck(checkedBy, backend.protocol)] } : {}),
    });
  const endpoints = withEndpoints();
  const parts = {
    endpoints,
    checkedEndpoints: check ? withEndpoints(check) : endpoints,
    proxied: upstreams.some((u) => u.proxy !== undefined),
    http2: backend.protocol === "HTTP2",
  };
  return { encoded: Object.freeze({ ...parts, digest: digestOf(name, parts) }), problems };
}

/** Drops what Envoy would refuse, since one refused cluster stops the whole proxy's updates. */
function usablePriorities(backend: Backend, problems: string[]): Upstream[][] {
  return backend.priorities
    .map((list) => list.filter((upstream) => isUsable(upstream, problems)))
    .filter((list) => list.length > 0);
}

function isUsable(upstream: Upstream, problems: string[]): boolean {
  const reject = (what: string, value: string | number) => {
    problems.push(`upstream "${upstream.name}" is left out: ${what} "${value}" is unusable`);
    return false;
  };
  const { proxy } = upstream;
  if (upstream.dns ? upstream.address === "" : !isIpAddress(upstream.address)) {
    return reject("address", upstream.address);
  }
  if (!isPort(upstream.port)) return reject("port", upstream.port);
  if (proxy && !isIpAddress(proxy.address)) return reject("proxy address", proxy.address);
  if (proxy && !isPort(proxy.port)) return reject("proxy port", proxy.port);
  return true;
}

function isIpAddress(address: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(address) ||
    ipaddr.IPv6.isValid(address) && !address.includes("%");
}

function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port <= 65_535;
}

function usableHealthCheck(backend: Backend, problems: string[]): HealthCheck | undefined {
  const check = backend.healthCheck;
  // Envoy refuses a cluster with gRPC health checks that does not speak HTTP/2.
  if (check?.type !== "GRPC" || backend.protocol === "HTTP2") return check;
  problems.push(`health check: GRPC needs protocol HTTP2, not ${backend.protocol}`);
  return undefined;
}

function locality(
  upstreams: readonly Upstream[],
  priority: number,
  checkedBy?: HealthCheck,
): LocalityLbEndpoints {
  return {
    lbEndpoints: upstreams.map((upstream) => lbEndpoint(upstream, checkedBy)),
    // Envoy Gateway balances by locality weight, where no weight means no traffic.
    loadBalancingWeight: { value: 1 },
    ...(priority > 0 ? { priority } : {}),
  };
}

function lbEndpoint(upstream: Upstream, checkedBy?: HealthCheck): LbEndpoint {
  const { hostname } = upstream;
  const checked = hostname && checkedBy && checkedBy.type !== "TCP";
  return {
    endpoint: {
      address: socketAddress(upstream),
      ...(checked ? { healthCheckConfig: { hostname } } : {}),
      ...(hostname ? { hostname } : {}),
    },
    metadata: endpointMetadata(upstream),
    loadBalancingWeight: { value: oneTo(MAX_WEIGHT, upstream.weight) },
  };
}

function endpointMetadata(upstream: Upstream): Metadata {
  const fields = { endpoint: { stringValue: upstream.name } };
  return {
    filterMetadata: { [METADATA_KEY]: { fields } },
    ...(upstream.proxy
      ? {
        typedFilterMetadata: { [PROXY_ADDRESS_KEY]: address.toAny(socketAddress(upstream.proxy)) },
      }
      : {}),
  };
}

function socketAddress(target: { readonly address: string; readonly port: number }): Address {
  return { socketAddress: { address: target.address, portValue: target.port } };
}

function healthCheck(check: HealthCheck, protocol: Backend["protocol"]): EnvoyHealthCheck {
  return {
    timeout: duration(check.timeoutMs),
    interval: duration(check.intervalMs),
    // Envoy's own default is 60 s until the first request: too late to fail over by.
    noTrafficInterval: duration(check.intervalMs),
    unhealthyThreshold: { value: oneTo(MAX_THRESHOLD, check.unhealthyThreshold) },
    healthyThreshold: { value: oneTo(MAX_THRESHOLD, check.healthyThreshold) },
    ...healthChecker(check, protocol),
  };
}

function healthChecker(check: HealthCheck, protocol: Backend["protocol"]): EnvoyHealthCheck {
  switch (check.type) {
    case "HTTP":
      return {
        httpHealthCheck: {
          path: check.path || "/",
          // A host that answers with a redirect or asks for a login is alive.
          expectedStatuses: [{ start: 100, end: 500 }],
          codecClientType: protocol === "HTTP2" ? HTTP2 : HTTP1,
        },
      };
    case "GRPC":
      return { grpcHealthCheck: {} };
    case "TCP":
      return { tcpHealthCheck: {} };
  }
}

function duration(ms: number): Duration {
  const whole = oneTo(MAX_DURATION_MS, ms);
  return { seconds: Math.floor(whole / 1000), nanos: whole % 1000 * 1_000_000 };
}

/** A whole number from 1 to `max`; what is no number counts as 1. */
function oneTo(max: number, value: number): number {
  return Number.isNaN(value) ? 1 : Math.min(max, Math.max(1, Math.floor(value)));
}

function digestOf(name: string, parts: Omit<EncodedCluster, "digest">): Uint8Array {
  const hash = createHash("sha256");
  hash.update(`${name}\0${parts.proxied}\0${parts.http2}\0${parts.endpoints.length}\0`);
  return new Uint8Array(hash.update(parts.endpoints).update(parts.checkedEndpoints).digest());
}
