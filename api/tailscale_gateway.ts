/**
 * TailscaleGateway: binds a Gateway of Envoy Gateway to several tailnets.
 *
 * @module
 */

import { z } from "zod";
import { discovery } from "./endpoint_fields.ts";
import {
  conditions,
  count,
  labelSelector,
  LIMITS,
  listByKeys,
  name1035,
  namespaceName,
  objectName,
  tags,
  text,
  timestamp,
} from "./fields.ts";
import { AGE_COLUMN, conditionColumn, defineKind, type KindOf } from "./kind.ts";
import { endpointsProxy, replicas, resourceRequirements } from "./proxy_fields.ts";
import { routeGeneration } from "./route_generation.ts";
import { withRules } from "./rules.ts";
import { gatewayConditions, gatewayReasons } from "./tailscale_gateway_reasons.ts";
import { vipFields, vipNameField } from "./vip_fields.ts";

export * from "./tailscale_gateway_reasons.ts";

const gatewayRef = z.object({
  name: objectName().describe("The Gateway's name."),
  namespace: namespaceName().exactOptional().describe(
    "The Gateway's namespace; another one than the object's own needs a ReferenceGrant there. By default the object's own.",
  ),
});

const tailnet = z.object({
  name: name1035().describe("The `{tailnet}` of the patterns, unique in the object."),
  tailscaleTailnetRef: z.object({ name: name1035().describe("The TailscaleTailnet's name.") })
    .describe("The tailnet."),
  serviceDiscovery: discovery().exactOptional().describe(
    "Which hosts of the tailnet can be reached through the Gateway. By default none.",
  ),
  routeGeneration: routeGeneration().default(routeGeneration().parse({})).describe(
    "By which hosts and paths things are reached, in both directions.",
  ),
  tags: tags().exactOptional().describe(
    "Tags of the proxies that are made for this tailnet, such as `tag:gateway`, beside those of the tailnet.",
  ),
  proxy: endpointsProxy().exactOptional().describe(
    "How those proxies run. By default two of each direction, in userspace.",
  ),
}).describe("A tailnet that the Gateway is bound to.");

const publish = () =>
  withRules(
    z.object({
      enabled: z.boolean().default(true).describe(
        "Whether the Gateway's routes are published to the tailnets.",
      ),
      routes: labelSelector().exactOptional().describe(
        "Which of the routes that are attached to the Gateway, by their labels. By default, and when empty, every one.",
      ),
      perRoute: z.boolean().default(false).describe(
        "Whether each route has a VIP of its own. Otherwise the Gateway has one.",
      ),
      vipService: z.object({
        name: vipNameField(
          "`svc:<namespace>-<gateway>`, with perRoute `svc:<namespace>-<route>`; over 63 characters shortened with a hash",
        ),
        ...vipFields(),
      }).exactOptional().describe("The VIP services in the tailnets."),
    }),
    {
      rule: "!self.perRoute || !has(self.vipService) || !has(self.vipService.name)",
      message: "vipService.name is only without perRoute: each route's VIP has a name of its own",
      holds: ({ perRoute, vipService }) => !perRoute || vipService?.name === undefined,
    },
  );

const networkPolicy = () =>
  z.object({
    enabled: z.boolean().default(true).describe(
      "Whether policies are made for the operator and the extension server. That of the proxies' CONNECT port always is.",
    ),
  });

const extensionServer = z.object({
  image: text(512).exactOptional().describe("The image. By default the operator's own."),
  replicas: replicas().describe("How many replicas, 0 to 64."),
  resources: resourceRequirements().exactOptional().describe("Compute resources of each replica."),
});

const spec = z.object({
  gatewayRef: gatewayRef.describe("The Gateway."),
  tailnets: listByKeys(tailnet, { keys: ["name"], max: LIMITS.list }).min(1).describe(
    "The tailnets that it is bound to.",
  ),
  publish: publish().default(publish().parse({})).describe(
    "How the Gateway's routes are shared to the tailnets.",
  ),
  networkPolicy: networkPolicy().default(networkPolicy().parse({})).describe(
    "NetworkPolicies beside those of the proxies.",
  ),
  extensionServer: extensionServer.exactOptional().describe(
    "A Deployment of its own that serves the hooks. By default the operator serves them.",
  ),
});

const tailnetStatus = z.object({
  name: text(LIMITS.name).describe("The `name` in `spec.tailnets`."),
  discoveredServices: count().exactOptional().describe("The hosts that were found."),
  lastSync: timestamp().exactOptional().describe(
    "When discovery last changed something; written only together with another change.",
  ),
  conditions: conditions(),
}).describe("How one tailnet fares.");

const service = z.object({
  name: text().describe("The VIP service's name."),
  vipAddresses: z.array(text(45).describe("An address.")).max(16).exactOptional().describe(
    "Its addresses in the tailnet.",
  ),
  dnsName: text().exactOptional().describe("Its full DNS name in the tailnet."),
  ownerCluster: text().exactOptional().describe("The cluster that registered it."),
  consumerCount: count().exactOptional().describe("How many clusters share it."),
  status: text(LIMITS.message).exactOptional().describe("How it fares."),
}).describe("A VIP service that is published.");

const extensionServerStatus = z.object({
  readyReplicas: count().exactOptional().describe("How many replicas are ready."),
  desiredReplicas: count().exactOptional().describe("How many are wanted."),
  serviceEndpoint: text().exactOptional().describe("Where Envoy Gateway calls it, `host:port`."),
  lastHookCall: timestamp().exactOptional().describe(
    "When Envoy Gateway last called a hook; written only together with another change.",
  ),
});

const status = z.object({
  tailnetStatus: z.array(tailnetStatus).max(LIMITS.list).exactOptional().describe(
    "How each tailnet fares.",
  ),
  generatedRoutes: z.object({
    ingressRoutes: count().exactOptional().describe("Those that are published to the tailnets."),
    egressRoutes: count().exactOptional().describe("Those to hosts of the tailnets."),
  }).exactOptional().describe("How many routes were made."),
  services: z.array(service).max(1024).exactOptional().describe(
    "The VIP services that are published.",
  ),
  extensionServerStatus: extensionServerStatus.exactOptional().describe(
    "The server of the hooks.",
  ),
  conditions: conditions(),
});

/** The kind TailscaleGateway. */
export const TailscaleGateway = defineKind({
  kind: "TailscaleGateway",
  plural: "tailscalegateways",
  scope: "Namespaced",
  shortNames: ["tsgw"],
  categories: ["tailscale"],
  description:
    "Binds a Gateway of Envoy Gateway to tailnets: hosts of the tailnets are found and reached through it, and its routes are published to them.",
  spec,
  status,
  columns: [
    conditionColumn("Ready", { condition: "Ready", field: "status" }),
    conditionColumn("Reason", { condition: "Ready", field: "reason" }),
    {
      name: "Gateway",
      type: "string",
      jsonPath: ".spec.gatewayRef.name",
      description: "The Gateway.",
    },
    {
      name: "Ingress",
      type: "integer",
      jsonPath: ".status.generatedRoutes.ingressRoutes",
      description: "The routes that are published to the tailnets.",
    },
    {
      name: "Egress",
      type: "integer",
      jsonPath: ".status.generatedRoutes.egressRoutes",
      description: "The routes to hosts of the tailnets.",
    },
    AGE_COLUMN,
    conditionColumn("Programmed", { condition: "Programmed", field: "status", wide: true }),
    conditionColumn("Message", { condition: "Ready", field: "message", wide: true }),
  ],
  conditions: gatewayConditions,
  reasons: gatewayReasons,
  example: {
    gatewayRef: { name: "eg-gateway", namespace: "envoy-gateway-system" },
    tailnets: [{
      name: "corp",
      tailscaleTailnetRef: { name: "corp-tailnet" },
      serviceDiscovery: {
        enabled: true,
        patterns: ["*.corp.internal", "api-*"],
        excludePatterns: ["proxy-*"],
        syncInterval: "30s",
      },
      tags: ["tag:gateway"],
    }],
    publish: { enabled: true, vipService: { tags: ["tag:web-service"] } },
    extensionServer: {
      replicas: 2,
      resources: { requests: { cpu: "100m", memory: "128Mi" } },
    },
  },
});
/** A TailscaleGateway as the API server stores it. */
export type TailscaleGateway = KindOf<typeof TailscaleGateway>;
/** Its spec. */
export type TailscaleGatewaySpec = TailscaleGateway["spec"];
/** Its status. */
export type TailscaleGatewayStatus = z.output<typeof status>;
