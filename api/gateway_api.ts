/**
 * The parts of the Gateway API's objects that we read, as they are in JSON.
 *
 * @module
 */

import type { Condition, KubeObject } from "../core/object.ts";

/** A reference to a Gateway or another parent of a route. */
export interface ParentReference {
  /** Default `gateway.networking.k8s.io`. */
  group?: string;
  /** Default `Gateway`. */
  kind?: string;
  /** Default: the route's own namespace. */
  namespace?: string;
  name: string;
  sectionName?: string;
  port?: number;
}

/** A reference to what a rule sends its requests to. */
export interface BackendRef {
  /** Default: the core group. */
  group?: string;
  /** Default `Service`. */
  kind?: string;
  name: string;
  /** Default: the route's own namespace. */
  namespace?: string;
  port?: number;
  /** Default 1; 0 sends nothing. */
  weight?: number;
  filters?: Record<string, unknown>[];
}

/** A rule of a route; `matches` and `filters` are only of HTTPRoute and GRPCRoute. */
export interface RouteRule {
  name?: string;
  backendRefs?: BackendRef[];
  matches?: Record<string, unknown>[];
  filters?: Record<string, unknown>[];
  timeouts?: { request?: string; backendRequest?: string };
}

/** What one controller says about a route at one parent. */
export interface RouteParentStatus {
  parentRef: ParentReference;
  controllerName: string;
  conditions?: Condition[];
}

/** A route of any kind; TCPRoute and UDPRoute have no hostnames. */
export interface Route extends KubeObject {
  spec: { parentRefs?: ParentReference[]; hostnames?: string[]; rules?: RouteRule[] };
  status?: { parents?: RouteParentStatus[] };
}

export type HTTPRoute = Route;
export type GRPCRoute = Route;
export type TLSRoute = Route;
export type TCPRoute = Route;
export type UDPRoute = Route;

/** A listener of a Gateway. */
export interface Listener {
  name: string;
  hostname?: string;
  port: number;
  protocol: string;
  tls?: { mode?: "Terminate" | "Passthrough"; certificateRefs?: { name: string }[] };
  allowedRoutes?: {
    namespaces?: { from?: "All" | "Same" | "Selector" | "None"; selector?: LabelSelector };
    kinds?: { group?: string; kind: string }[];
  };
}

/** `metav1.LabelSelector`. */
export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: {
    key: string;
    operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
    values?: string[];
  }[];
}

/** A Gateway. */
export interface Gateway extends KubeObject {
  spec: { gatewayClassName: string; listeners?: Listener[]; addresses?: GatewayAddress[] };
  status?: {
    addresses?: GatewayAddress[];
    conditions?: Condition[];
    listeners?: { name: string; attachedRoutes: number; conditions?: Condition[] }[];
  };
}

/** An address of a Gateway. */
export interface GatewayAddress {
  /** `IPAddress` (default) or `Hostname`. */
  type?: string;
  value?: string;
}

/** A GatewayClass. */
export interface GatewayClass extends KubeObject {
  spec: {
    controllerName: string;
    parametersRef?: { group: string; kind: string; name: string; namespace?: string };
  };
  status?: { conditions?: Condition[] };
}

/** Lets objects of other namespaces refer to objects of its own. */
export interface ReferenceGrant extends KubeObject {
  spec: {
    from: { group: string; kind: string; namespace: string }[];
    /** Without `name`: every object of the kind. */
    to: { group: string; kind: string; name?: string }[];
  };
}

/** The `controllerName` of Envoy Gateway, as GatewayClasses and route statuses have it. */
export const ENVOY_GATEWAY_CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller";
