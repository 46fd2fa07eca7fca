/**
 * TailscaleServices: a VIP service of a tailnet, over the TailscaleEndpoints that
 * its selector picks.
 *
 * @module
 */

import { z } from "zod";
import { isEmptySelector, selectorMatches } from "../core/label_selector.ts";
import { endpointsFields, PROXY_OR_GROUP } from "./endpoints_spec.ts";
import {
  conditions,
  count,
  labelSelector,
  LIMITS,
  namespaceName,
  stringMap,
  text,
} from "./fields.ts";
import { AGE_COLUMN, conditionColumn, defineKind, type KindOf } from "./kind.ts";
import { loadBalancing } from "./load_balancing.ts";
import { withRules } from "./rules.ts";
import { servicesConditions, servicesReasons } from "./tailscale_services_reasons.ts";
import { servicesVip } from "./vip_fields.ts";

export * from "./tailscale_services_reasons.ts";

const endpointTemplate = withRules(
  z.object({
    labels: stringMap(LIMITS.name).default({}).describe(
      "The labels of the TailscaleEndpoints; they must satisfy `selector`.",
    ),
    nameSuffix: text(LIMITS.name).regex(/^[-a-z0-9]*[a-z0-9]$/).default("-endpoints").describe(
      "What its name has after the name of this object.",
    ),
    ...endpointsFields(),
  }),
  PROXY_OR_GROUP,
);

// Whether what is made from the template would be selected. As in Kubernetes, a label that is
// not there is not in any list.
const LABELS = "self.endpointTemplate.labels";
const HAS = `(e.key in ${LABELS})`;
const IS_IN = `(${HAS} && has(e.values) && ${LABELS}[e.key] in e.values)`;
const MEETS_LABELS =
  `!has(self.selector.matchLabels) || self.selector.matchLabels.all(k, k in ${LABELS} && ${LABELS}[k] == self.selector.matchLabels[k])`;
const MEETS_EXPRESSIONS = "!has(self.selector.matchExpressions) || " +
  "self.selector.matchExpressions.all(e, " +
  `e.operator == 'Exists' ? ${HAS} : e.operator == 'DoesNotExist' ? !${HAS} : ` +
  `e.operator == 'In' ? ${IS_IN} : !${IS_IN})`;
const IS_NOT_EMPTY = ["matchLabels", "matchExpressions"]
  .map((field) => `has(self.selector.${field}) && size(self.selector.${field}) > 0`).join(" || ");

const spec = withRules(
  z.object({
    selector: labelSelector().describe(
      "Which TailscaleEndpoints of this namespace are behind the VIP, by their labels; an empty selector selects nothing.",
    ),
    vipService: servicesVip().default(servicesVip().parse({})).describe(
      "The VIP service in the tailnet.",
    ),
    loadBalancing: loadBalancing().exactOptional().describe(
      "How requests are spread. By default as the route's own policy and the endpoints say.",
    ),
    endpointTemplate: endpointTemplate.exactOptional().describe(
      "A TailscaleEndpoints that is made when nothing matches the selector, and removed when nothing selects it any more.",
    ),
  }),
  {
    rule:
      `!has(self.endpointTemplate) || (${IS_NOT_EMPTY}) && (${MEETS_LABELS}) && (${MEETS_EXPRESSIONS})`,
    message:
      "endpointTemplate.labels must satisfy selector, which must not be empty: else what is made is never selected",
    holds: ({ selector, endpointTemplate }) =>
      !endpointTemplate ||
      !isEmptySelector(selector) && selectorMatches(selector, endpointTemplate.labels),
  },
);

const selectedEndpoint = z.object({
  name: text(LIMITS.name).describe("The TailscaleEndpoints' name."),
  namespace: namespaceName().describe("Its namespace."),
  machines: z.array(text().describe("The name of a pod.")).max(256).exactOptional().describe(
    "The pods of its ingress proxies, which host the VIP.",
  ),
  status: z.enum(["Ready", "Pending", "Failed"]).describe("Whether it can be used."),
  healthStatus: z.object({
    healthyMachines: count().describe("The machines that are connected and advertise the VIP."),
    unhealthyMachines: count().describe("The other machines."),
  }).exactOptional().describe("How its machines are."),
}).describe("A TailscaleEndpoints that the selector picks.");

const consumer = z.object({
  cluster: text().describe("The cluster's identity."),
  operator: text().exactOptional().describe("The operator's identity."),
  nodeIDs: z.array(text().describe("A node id.")).max(256).exactOptional().describe(
    "Tailscale's ids of its nodes that host the VIP.",
  ),
}).describe("A cluster that shares the VIP.");

const host = z.object({
  nodeID: text().describe("Tailscale's id of the node."),
  approvalLevel: text().exactOptional().describe("How it is approved as a host."),
  configured: text().exactOptional().describe("How far it is configured as a host."),
}).describe("A node that hosts the VIP.");

const vipServiceStatus = z.object({
  created: z.boolean().exactOptional().describe("Whether the VIP service exists."),
  serviceName: text().exactOptional().describe("Its name, such as `svc:web`."),
  addresses: z.array(text(45).describe("An address.")).max(16).exactOptional().describe(
    "Its addresses in the tailnet, IPv4 and IPv6.",
  ),
  dnsName: text().exactOptional().describe("Its full DNS name in the tailnet."),
  backendCount: count().exactOptional().describe("The machines that are to host it."),
  healthyBackendCount: count().exactOptional().describe("Those of them that do."),
  owner: text().exactOptional().describe("The operator that registered it."),
  consumers: z.array(consumer).max(256).exactOptional().describe("The clusters that share it."),
  hosts: z.array(host).max(256).exactOptional().describe("The nodes that host it."),
});

const status = z.object({
  selectedEndpoints: z.array(selectedEndpoint).max(256).exactOptional().describe(
    "The TailscaleEndpoints that the selector picks.",
  ),
  vipServiceStatus: vipServiceStatus.exactOptional().describe("The VIP service in the tailnet."),
  totalBackends: count().exactOptional().describe("The machines behind the VIP."),
  healthyBackends: count().exactOptional().describe(
    "The machines that are connected and advertise the VIP.",
  ),
  conditions: conditions(),
});

/** The kind TailscaleServices. */
export const TailscaleServices = defineKind({
  kind: "TailscaleServices",
  plural: "tailscaleservices",
  scope: "Namespaced",
  shortNames: ["tssvc"],
  categories: ["tailscale"],
  description:
    "A VIP service of a tailnet, over the TailscaleEndpoints that a selector picks. Routes of the Gateway API name it as backendRef.",
  spec,
  status,
  columns: [
    conditionColumn("Ready", { condition: "Ready", field: "status" }),
    conditionColumn("Reason", { condition: "Ready", field: "reason" }),
    {
      name: "DNSName",
      type: "string",
      jsonPath: ".status.vipServiceStatus.dnsName",
      description: "The VIP's full DNS name in the tailnet.",
    },
    {
      name: "Healthy",
      type: "integer",
      jsonPath: ".status.healthyBackends",
      description: "The machines that are connected and advertise the VIP.",
    },
    {
      name: "Backends",
      type: "integer",
      jsonPath: ".status.totalBackends",
      description: "The machines behind the VIP.",
    },
    AGE_COLUMN,
    {
      name: "Addresses",
      type: "string",
      jsonPath: ".status.vipServiceStatus.addresses",
      description: "The VIP's addresses.",
      wide: true,
    },
    conditionColumn("Message", { condition: "Ready", field: "message", wide: true }),
  ],
  conditions: servicesConditions,
  reasons: servicesReasons,
  example: {
    selector: { matchLabels: { app: "web" } },
    vipService: {
      name: "svc:web-service",
      ports: ["tcp:80", "tcp:443"],
      tags: ["tag:web-service"],
      comment: "The shop",
    },
    loadBalancing: {
      strategy: "round-robin",
      healthCheck: { enabled: true, path: "/health", interval: "30s", timeout: "5s" },
    },
    endpointTemplate: {
      labels: { app: "web" },
      tailnet: "corp",
      tags: ["tag:k8s-proxy"],
      proxy: { replicas: 2, connectionType: "bidirectional" },
      ports: [{ port: 80, protocol: "TCP" }],
    },
  },
});
/** A TailscaleServices as the API server stores it. */
export type TailscaleServices = KindOf<typeof TailscaleServices>;
/** Its spec. */
export type TailscaleServicesSpec = TailscaleServices["spec"];
/** Its status. */
export type TailscaleServicesStatus = z.output<typeof status>;
