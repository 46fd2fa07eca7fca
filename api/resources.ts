/**
 * The kinds of others that we read or write, as the API server names them.
 *
 * @module
 */

import type { ResourceType } from "../core/object.ts";

function namespaced(group: string, version: string, kind: string, plural: string): ResourceType {
  return { group, version, kind, plural, namespaced: true };
}

function clusterScoped(group: string, version: string, kind: string, plural: string): ResourceType {
  return { group, version, kind, plural, namespaced: false };
}

export const NAMESPACE = clusterScoped("", "v1", "Namespace", "namespaces");
export const SECRET = namespaced("", "v1", "Secret", "secrets");
export const CONFIG_MAP = namespaced("", "v1", "ConfigMap", "configmaps");
export const SERVICE = namespaced("", "v1", "Service", "services");
export const SERVICE_ACCOUNT = namespaced("", "v1", "ServiceAccount", "serviceaccounts");
export const POD = namespaced("", "v1", "Pod", "pods");
export const EVENT = namespaced("events.k8s.io", "v1", "Event", "events");
export const STATEFUL_SET = namespaced("apps", "v1", "StatefulSet", "statefulsets");
export const ENDPOINT_SLICE = namespaced(
  "discovery.k8s.io",
  "v1",
  "EndpointSlice",
  "endpointslices",
);
export const LEASE = namespaced("coordination.k8s.io", "v1", "Lease", "leases");

const RBAC = "rbac.authorization.k8s.io";
export const ROLE = namespaced(RBAC, "v1", "Role", "roles");
export const ROLE_BINDING = namespaced(RBAC, "v1", "RoleBinding", "rolebindings");

export const NETWORK_POLICY = namespaced(
  "networking.k8s.io",
  "v1",
  "NetworkPolicy",
  "networkpolicies",
);
export const POD_DISRUPTION_BUDGET = namespaced(
  "policy",
  "v1",
  "PodDisruptionBudget",
  "poddisruptionbudgets",
);

/** The API group of the Gateway API. */
export const GATEWAY_GROUP = "gateway.networking.k8s.io";
export const GATEWAY_CLASS = clusterScoped(GATEWAY_GROUP, "v1", "GatewayClass", "gatewayclasses");
export const GATEWAY = namespaced(GATEWAY_GROUP, "v1", "Gateway", "gateways");
export const HTTP_ROUTE = namespaced(GATEWAY_GROUP, "v1", "HTTPRoute", "httproutes");
export const GRPC_ROUTE = namespaced(GATEWAY_GROUP, "v1", "GRPCRoute", "grpcroutes");
// v1 since Gateway API 1.6, which deprecates v1alpha2 and warns of it at each request.
export const TCP_ROUTE = namespaced(GATEWAY_GROUP, "v1", "TCPRoute", "tcproutes");
export const TLS_ROUTE = namespaced(GATEWAY_GROUP, "v1", "TLSRoute", "tlsroutes");
export const UDP_ROUTE = namespaced(GATEWAY_GROUP, "v1", "UDPRoute", "udproutes");
/** v1beta1 is what every Gateway API version up to 1.6 serves. */
export const REFERENCE_GRANT = namespaced(
  GATEWAY_GROUP,
  "v1beta1",
  "ReferenceGrant",
  "referencegrants",
);

/** The route kinds, in the order in which Envoy Gateway translates them. */
export const ROUTE_TYPES: readonly ResourceType[] = [
  HTTP_ROUTE,
  GRPC_ROUTE,
  TLS_ROUTE,
  TCP_ROUTE,
  UDP_ROUTE,
];
