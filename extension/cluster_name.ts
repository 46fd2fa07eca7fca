/**
 * The names that Envoy Gateway gives to the clusters of routes:
 * `<route kind>/<namespace>/<name>/rule/<index>[/backend/<index>]`, with the rule
 * index -1 for TCP, TLS and UDP routes (its internal/gatewayapi/helpers.go and
 * route.go, v1.5 to v1.9).
 *
 * @module
 */

/** Kinds of routes that have clusters. */
export type RouteKind = "HTTPRoute" | "GRPCRoute" | "TCPRoute" | "TLSRoute" | "UDPRoute";

/** Which route rule a cluster is for. */
export interface RouteCluster {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly name: string;
  /** Index of the rule, -1 for TCP, TLS and UDP routes. */
  readonly rule: number;
  /** Index of the backendRef, where it has a cluster of its own. */
  readonly backend?: number;
}

const KINDS: ReadonlyMap<string, RouteKind> = new Map([
  ["httproute", "HTTPRoute"],
  ["grpcroute", "GRPCRoute"],
  ["tcproute", "TCPRoute"],
  ["tlsroute", "TLSRoute"],
  ["udproute", "UDPRoute"],
]);

/** One expression, since a translation has thousands of names. */
const NAME =
  /^([a-z]+route)\/([^/]+)\/([^/]+)\/rule\/(-1|0|[1-9][0-9]{0,8})(?:\/backend\/(0|[1-9][0-9]{0,8}))?$/;

/** {@linkcode NAME} and what a kind's rules are numbered by, without a group to capture. */
const ROUTE_CLUSTER =
  /^(?:(?:http|grpc)route\/[^/]+\/[^/]+\/rule\/(?:0|[1-9][0-9]{0,8})|(?:tcp|tls|udp)route\/[^/]+\/[^/]+\/rule\/-1)(?:\/backend\/(?:0|[1-9][0-9]{0,8}))?$/;

/**
 * The name of the cluster of a route's rule.
 *
 * @example
 * ```ts
 * import { clusterNameOf } from "./cluster_name.ts";
 * clusterNameOf({ kind: "HTTPRoute", namespace: "apps", name: "web" }, 0); // "httproute/apps/web/rule/0"
 * clusterNameOf({ kind: "TCPRoute", namespace: "apps", name: "db" }, 0); // "tcproute/apps/db/rule/-1"
 * ```
 */
export function clusterNameOf(
  route: { readonly kind: RouteKind; readonly namespace: string; readonly name: string },
  rule: number,
): string {
  const index = hasNumberedRules(route.kind) ? rule : -1;
  return `${route.kind.toLowerCase()}/${route.namespace}/${route.name}/rule/${index}`;
}

/**
 * What a cluster's name says. Total: a name of any other form, such as those of
 * mirrors, of access log services or of a later Envoy Gateway, is `unknown`.
 */
export function parseClusterName(name: string): RouteCluster | { readonly unknown: string } {
  return parseRouteCluster(name) ?? { unknown: name };
}

/** {@linkcode parseClusterName} where only the kind of answer counts: a third of the time. */
export function isRouteCluster(name: string): boolean {
  return ROUTE_CLUSTER.test(name);
}

function parseRouteCluster(name: string): RouteCluster | undefined {
  const match = NAME.exec(name);
  const kind = match && KINDS.get(match[1]!);
  if (!kind) return undefined;
  const rule = Number(match[4]);
  if ((rule >= 0) !== hasNumberedRules(kind)) return undefined;
  const cluster = { kind, namespace: match[2]!, name: match[3]!, rule };
  return match[5] === undefined ? cluster : { ...cluster, backend: Number(match[5]) };
}

function hasNumberedRules(kind: RouteKind): boolean {
  return kind === "HTTPRoute" || kind === "GRPCRoute";
}
