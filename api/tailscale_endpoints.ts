/**
 * TailscaleEndpoints: the proxies that appear in a tailnet, and the hosts that
 * are reached through them.
 *
 * @module
 */

import { z } from "zod";
import { endpointsFields, PROXY_OR_GROUP } from "./endpoints_spec.ts";
import { conditions, count, LIMITS, namespaceName, port, text, timestamp } from "./fields.ts";
import { AGE_COLUMN, conditionColumn, defineKind, type KindOf } from "./kind.ts";
import { immutable, withRules } from "./rules.ts";
import { endpointsConditions, endpointsReasons } from "./tailscale_endpoints_reasons.ts";

export { portName } from "./endpoints_spec.ts";
export * from "./tailscale_endpoints_reasons.ts";

const fields = endpointsFields();

const spec = withRules(
  z.object({
    ...fields,
    tailnet: immutable(fields.tailnet, "tailnet").describe(
      "The TailscaleTailnet that the proxies log in to. Cannot be changed.",
    ),
  }),
  PROXY_OR_GROUP,
);

const statefulSetRef = z.object({
  name: text(LIMITS.name).describe("The StatefulSet's name."),
  namespace: namespaceName().describe("Its namespace."),
  connectionType: z.enum(["ingress", "egress"]).describe("The direction that its proxies serve."),
  desiredReplicas: count().describe("How many replicas are wanted."),
  readyReplicas: count().describe("How many are ready."),
  service: text(LIMITS.name).exactOptional().describe("The Service in front of it."),
  serviceFQDN: text().exactOptional().describe("The Service's full DNS name."),
  clusterIP: text(45).exactOptional().describe("The Service's address."),
  createdAt: timestamp().exactOptional().describe("When the StatefulSet was created."),
}).describe("A StatefulSet of proxies.");

const device = z.object({
  hostname: text().describe("The device's name in the tailnet."),
  tailscaleIP: text(45).exactOptional().describe("Its IPv4 address in the tailnet, else its IPv6."),
  tailscaleIPs: z.array(text(45).describe("An address.")).max(16).exactOptional().describe(
    "All of its addresses in the tailnet.",
  ),
  tailscaleFQDN: text().exactOptional().describe("Its full DNS name."),
  nodeID: text().exactOptional().describe("Tailscale's id of it."),
  statefulSetPod: text().describe("The pod that it is."),
  podIP: text(45).exactOptional().describe("The pod's address."),
  connected: z.boolean().exactOptional().describe(
    "Whether the control server says that it is connected.",
  ),
  online: z.boolean().exactOptional().describe("Whether it is connected and its pod is ready."),
  lastSeen: timestamp().exactOptional().describe(
    "When the control server last saw it; written only together with another change.",
  ),
  tags: z.array(text().describe("A tag.")).max(64).exactOptional().describe("Its tags."),
}).describe("A device of the tailnet that is one of the proxies.");

const endpointStatus = z.object({
  name: text().describe("The pod, endpoint or discovered host."),
  tailscaleIP: text(45).exactOptional().describe("Its address in the tailnet."),
  tailscaleFQDN: text().exactOptional().describe("The name that it was found by, if it was."),
  port: port().exactOptional().describe("Its port."),
  healthStatus: z.enum(["Healthy", "Unhealthy", "Unknown"]).describe(
    "What the control server says: whether the device is connected. Whether the port answers, Envoy checks, and the operator does not know.",
  ),
  source: z.enum(["Proxy", "Manual", "Discovered"]).describe(
    "`Proxy`: a proxy machine. `Manual`: from `spec.endpoints`. `Discovered`: by autoDiscovery.",
  ),
  message: z.string().max(LIMITS.message).exactOptional().describe("Why, where there is a why."),
}).describe("A proxy machine or a backend.");

const status = z.object({
  statefulSetRefs: z.array(statefulSetRef).max(16).exactOptional().describe(
    "The StatefulSets of proxies.",
  ),
  devices: z.array(device).max(256).exactOptional().describe(
    "The devices of the tailnet that are the proxies.",
  ),
  endpointStatus: z.array(endpointStatus).max(1024).exactOptional().describe(
    "The proxy machines and the backends.",
  ),
  totalEndpoints: count().exactOptional().describe("The proxy machines that are expected."),
  healthyEndpoints: count().exactOptional().describe("The proxy machines that are connected."),
  discoveredEndpoints: count().exactOptional().describe("The backends found by discovery."),
  lastSync: timestamp().exactOptional().describe(
    "When discovery last changed something; written only together with another change.",
  ),
  conditions: conditions(),
});

/** The kind TailscaleEndpoints. */
export const TailscaleEndpoints = defineKind({
  kind: "TailscaleEndpoints",
  plural: "tailscaleendpoints",
  scope: "Namespaced",
  shortNames: ["tsep"],
  categories: ["tailscale"],
  description:
    "Proxies that appear in a tailnet, and the hosts that are reached through them. Routes of the Gateway API name it as backendRef.",
  spec,
  status,
  columns: [
    conditionColumn("Ready", { condition: "Ready", field: "status" }),
    conditionColumn("Reason", { condition: "Ready", field: "reason" }),
    {
      name: "Tailnet",
      type: "string",
      jsonPath: ".spec.tailnet",
      description: "The TailscaleTailnet that the proxies log in to.",
    },
    {
      name: "Healthy",
      type: "integer",
      jsonPath: ".status.healthyEndpoints",
      description: "The proxy machines that are connected.",
    },
    {
      name: "Endpoints",
      type: "integer",
      jsonPath: ".status.totalEndpoints",
      description: "The proxy machines that are expected.",
    },
    AGE_COLUMN,
    conditionColumn("Message", { condition: "Ready", field: "message", wide: true }),
  ],
  conditions: endpointsConditions,
  reasons: endpointsReasons,
  example: {
    tailnet: "corp",
    tags: ["tag:k8s-proxy"],
    proxy: {
      replicas: 2,
      connectionType: "bidirectional",
      resources: {
        requests: { cpu: "100m", memory: "128Mi" },
        limits: { cpu: "500m", memory: "256Mi" },
      },
    },
    ports: [{ name: "http", port: 80, backendRef: { name: "web", namespace: "apps", port: 8080 } }],
    endpoints: [
      { name: "api", tailscaleIP: "100.64.0.10", port: 8080 },
      {
        name: "db",
        tailscaleFQDN: "db.tail8eff9.ts.net",
        port: 5432,
        protocol: "TCP",
        healthCheck: { enabled: true, interval: "30s" },
      },
      { name: "web", externalTarget: "web.apps.svc.cluster.local:8080" },
    ],
    autoDiscovery: { enabled: true, patterns: ["api-*"], excludePatterns: ["api-test-*"] },
  },
});
/** A TailscaleEndpoints as the API server stores it. */
export type TailscaleEndpoints = KindOf<typeof TailscaleEndpoints>;
/** Its spec. */
export type TailscaleEndpointsSpec = TailscaleEndpoints["spec"];
/** Its status. */
export type TailscaleEndpointsStatus = z.output<typeof status>;
/** An entry of `spec.endpoints`. */
export type Endpoint = NonNullable<TailscaleEndpointsSpec["endpoints"]>[number];
/** An entry of `spec.ports`. */
export type IngressPort = NonNullable<TailscaleEndpointsSpec["ports"]>[number];
/** `spec.proxy`. */
export type EndpointsProxy = NonNullable<TailscaleEndpointsSpec["proxy"]>;
/** An entry of `status.statefulSetRefs`. */
export type StatefulSetRef = NonNullable<TailscaleEndpointsStatus["statefulSetRefs"]>[number];
/** An entry of `status.devices`. */
export type DeviceStatus = NonNullable<TailscaleEndpointsStatus["devices"]>[number];
/** An entry of `status.endpointStatus`. */
export type EndpointStatus = NonNullable<TailscaleEndpointsStatus["endpointStatus"]>[number];
