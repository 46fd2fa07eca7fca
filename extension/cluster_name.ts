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

const INDEX = /^(?:0|[1-9][0-9]{0,8})$/;

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

/** {@linkcode parseClusterName} where only the kind of answer counts. */
export function isRouteCluster(name: string): boolean {
  return parseRouteCluster(name) !== undefined;
}

function parseRouteCluster(name: string): RouteCluster | undefined {
  const parts = name.split("/");
  if (parts.length !== 5 && parts.length !== 7) return undefined;
  const [kindName, namespace, routeName, ruleWord, ruleText, backendWord, backendText] = parts;
  const kind = KINDS.get(kindName!);
  if (!kind || !namespace || !routeName || ruleWord !== "rule") return undefined;
  const rule = ruleIndex(kind, ruleText!);
  if (rule === undefined) return undefined;
  const base = { kind, namespace, name: routeName, rule };
  if (parts.length === 5) return base;
  if (backendWord !== "backend" || !INDEX.test(backendText!)) return undefined;
  return { ...base, backend: Number(backendText) };
}

function ruleIndex(kind: RouteKind, text: string): number | undefined {
  if (!hasNumberedRules(kind)) return text === "-1" ? -1 : undefined;
  return INDEX.test(text) ? Number(text) : undefined;
}

function hasNumberedRules(kind: RouteKind): boolean {
  return kind === "HTTPRoute" || kind === "GRPCRoute";
}
