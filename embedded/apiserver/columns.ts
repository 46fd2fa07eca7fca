/**
 * The columns of kinds that bring none of their own: what `kubectl get` shows of
 * them on a real cluster, as far as a path can say it.
 *
 * @module
 */
import { type PrinterColumn, type ServedType, typeId } from "./types.ts";

const AGE: PrinterColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

const text = (name: string, jsonPath: string): PrinterColumn => ({
  name,
  type: "string",
  jsonPath,
});
const count = (name: string, jsonPath: string): PrinterColumn => ({
  name,
  type: "integer",
  jsonPath,
});
const wide = (column: PrinterColumn): PrinterColumn => ({ ...column, wide: true });
const condition = (name: string, type: string): PrinterColumn =>
  text(name, `.status.conditions[?(@.type=="${type}")].status`);

const WORKLOAD = [
  count("Ready", ".status.readyReplicas"),
  count("Desired", ".spec.replicas"),
  AGE,
  wide(text("Images", ".spec.template.spec.containers[*].image")),
];
const ROUTE = [text("Hostnames", ".spec.hostnames"), AGE];
const EVENT = (about: string, message: string): PrinterColumn[] => [
  { name: "Last Seen", type: "date", jsonPath: ".metadata.creationTimestamp" },
  text("Type", ".type"),
  text("Reason", ".reason"),
  text("Kind", `${about}.kind`),
  text("Object", `${about}.name`),
  text("Message", message),
];

const COLUMNS: Readonly<Record<string, readonly PrinterColumn[]>> = {
  namespaces: [text("Status", ".status.phase"), AGE],
  secrets: [text("Type", ".type"), AGE],
  services: [
    text("Type", ".spec.type"),
    text("Cluster-IP", ".spec.clusterIP"),
    text("Port(s)", ".spec.ports[*].port"),
    AGE,
    wide(text("Selector", ".spec.selector")),
  ],
  pods: [
    condition("Ready", "Ready"),
    text("Status", ".status.phase"),
    AGE,
    wide(text("IP", ".status.podIP")),
    wide(text("Node", ".spec.nodeName")),
  ],
  events: EVENT(".involvedObject", ".message"),
  "events.events.k8s.io": EVENT(".regarding", ".note"),
  "statefulsets.apps": WORKLOAD,
  "deployments.apps": WORKLOAD,
  "rolebindings.rbac.authorization.k8s.io": [text("Role", ".roleRef.name"), AGE],
  "clusterrolebindings.rbac.authorization.k8s.io": [text("Role", ".roleRef.name"), AGE],
  "networkpolicies.networking.k8s.io": [text("Pod-Selector", ".spec.podSelector"), AGE],
  "poddisruptionbudgets.policy": [
    text("Min Available", ".spec.minAvailable"),
    text("Max Unavailable", ".spec.maxUnavailable"),
    AGE,
  ],
  "endpointslices.discovery.k8s.io": [
    text("AddressType", ".addressType"),
    text("Ports", ".ports[*].port"),
    text("Endpoints", ".endpoints[*].addresses[0]"),
    AGE,
  ],
  "leases.coordination.k8s.io": [text("Holder", ".spec.holderIdentity"), AGE],
  "gatewayclasses.gateway.networking.k8s.io": [
    text("Controller", ".spec.controllerName"),
    condition("Accepted", "Accepted"),
    AGE,
  ],
  "gateways.gateway.networking.k8s.io": [
    text("Class", ".spec.gatewayClassName"),
    text("Address", ".status.addresses[*].value"),
    condition("Programmed", "Programmed"),
    AGE,
  ],
  "httproutes.gateway.networking.k8s.io": ROUTE,
  "grpcroutes.gateway.networking.k8s.io": ROUTE,
  "tlsroutes.gateway.networking.k8s.io": ROUTE,
};

/** The columns beside the name. */
export function columnsOf(type: ServedType): readonly PrinterColumn[] {
  return type.columns ?? COLUMNS[typeId(type)] ?? [AGE];
}
