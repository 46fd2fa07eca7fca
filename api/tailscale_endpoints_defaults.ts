/**
 * The defaults of a TailscaleEndpoints that the API server cannot fill in: those
 * that depend on another field, and those of `proxy`, whose absence has a meaning.
 *
 * @module
 */

import { remembered } from "../core/remembered.ts";
import { parseExternalTarget } from "./address.ts";
import { discovery, type Protocol } from "./endpoint_fields.ts";
import { durationMs } from "./fields.ts";
import { endpointsProxy } from "./proxy_fields.ts";
import {
  type Endpoint,
  type EndpointsProxy,
  type IngressPort,
  portName,
  type TailscaleEndpointsSpec,
} from "./tailscale_endpoints.ts";

/** A health check with every value; `type` follows from the protocol. */
export interface ResolvedHealthCheck {
  readonly enabled: boolean;
  readonly type: "HTTP" | "GRPC" | "TCP";
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
}

/** An endpoint with its port and every default. */
export interface ResolvedEndpoint extends Omit<Endpoint, "healthCheck" | "port" | "tags"> {
  readonly port: number;
  readonly tags: readonly string[];
  /** The host of `externalTarget`, without brackets. */
  readonly externalHost?: string;
  readonly healthCheck: ResolvedHealthCheck;
}

/** An ingress port with its name and target port. */
export type ResolvedPort = IngressPort & { readonly name: string; readonly targetPort: number };

/** `autoDiscovery` with every default. */
export interface ResolvedDiscovery {
  readonly enabled: boolean;
  readonly patterns: readonly string[];
  readonly excludePatterns: readonly string[];
  readonly tags: readonly string[];
  readonly port: number;
  readonly protocol: Protocol;
  readonly syncIntervalMs: number;
}

/** A spec with every default. */
export interface ResolvedEndpointsSpec {
  readonly tailnet: string;
  readonly tags: readonly string[];
  /** Absent exactly when `proxyGroup` is set. */
  readonly proxy?: EndpointsProxy;
  readonly proxyGroup?: string;
  readonly ports: readonly ResolvedPort[];
  readonly endpoints: readonly ResolvedEndpoint[];
  readonly autoDiscovery: ResolvedDiscovery;
}

/** The directions of a connection type, each with a StatefulSet of its own. */
export function directionsOf(
  connectionType: EndpointsProxy["connectionType"],
): readonly ("ingress" | "egress")[] {
  return connectionType === "bidirectional" ? ["ingress", "egress"] : [connectionType];
}

/** What an absent `proxy` and `autoDiscovery` mean; made once, since schemas are costly to build. */
const DEFAULT_PROXY: EndpointsProxy = endpointsProxy().parse({});
const DEFAULT_DISCOVERY = discovery().parse({});

/**
 * The spec with all defaults, for the controllers.
 *
 * The schema fills in the defaults of single values (`kubectl get -o yaml` shows
 * them). Here are the rest: `proxy` when neither it nor `proxyGroup` is set (a
 * default in the schema would contradict `proxyGroup`), port names and target
 * ports, the port of an `externalTarget`, whether an endpoint is health-checked,
 * `autoDiscovery`, and empty lists.
 */
export function withDefaults(spec: TailscaleEndpointsSpec): ResolvedEndpointsSpec {
  return resolveSpec(spec);
}

const resolveSpec = remembered((spec: TailscaleEndpointsSpec): ResolvedEndpointsSpec => ({
  tailnet: spec.tailnet,
  tags: spec.tags ?? [],
  ...(spec.proxyGroup === undefined
    ? { proxy: spec.proxy ?? DEFAULT_PROXY }
    : { proxyGroup: spec.proxyGroup }),
  ports: (spec.ports ?? []).map(resolvePort),
  endpoints: (spec.endpoints ?? []).map(resolveEndpoint),
  autoDiscovery: resolveDiscovery(spec.autoDiscovery),
}));

function resolvePort(port: IngressPort): ResolvedPort {
  return { ...port, name: portName(port), targetPort: port.targetPort ?? port.port };
}

/** An endpoint with all defaults. */
export function resolveEndpoint(endpoint: Endpoint): ResolvedEndpoint {
  const external = parseExternalTarget(endpoint.externalTarget ?? "");
  return {
    ...endpoint,
    // The rules of the schema let no endpoint be without both.
    port: endpoint.port ?? external?.port ?? 0,
    tags: endpoint.tags ?? [],
    ...(external ? { externalHost: external.host } : {}),
    healthCheck: resolveHealthCheck(endpoint),
  };
}

const CHECK_TYPES: Record<Protocol, ResolvedHealthCheck["type"]> = {
  HTTP: "HTTP",
  HTTPS: "HTTP",
  HTTP2: "HTTP",
  GRPC: "GRPC",
  TLS: "TCP",
  TCP: "TCP",
  UDP: "TCP",
};

function resolveHealthCheck({ protocol, healthCheck }: Endpoint): ResolvedHealthCheck {
  const type = CHECK_TYPES[protocol];
  return {
    enabled: protocol !== "UDP" && (healthCheck?.enabled ?? type !== "TCP"),
    type,
    path: healthCheck?.path ?? "/",
    intervalMs: durationMs(healthCheck?.interval ?? "10s"),
    timeoutMs: durationMs(healthCheck?.timeout ?? "5s"),
    healthyThreshold: healthCheck?.healthyThreshold ?? 1,
    unhealthyThreshold: healthCheck?.unhealthyThreshold ?? 3,
  };
}

function resolveDiscovery(given: TailscaleEndpointsSpec["autoDiscovery"]): ResolvedDiscovery {
  const { syncInterval, ...rest } = given ?? DEFAULT_DISCOVERY;
  return {
    enabled: rest.enabled,
    patterns: rest.patterns ?? [],
    excludePatterns: rest.excludePatterns ?? [],
    tags: rest.tags ?? [],
    port: rest.port,
    protocol: rest.protocol,
    syncIntervalMs: durationMs(syncInterval),
  };
}
