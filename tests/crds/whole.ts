/** An object of each kind with every field of its spec and status. */
import type { KubeObject } from "../../core/object.ts";
import { type Fields, objectOf } from "./cases.ts";
import {
  conditions,
  DISCOVERY,
  ENDPOINTS,
  ENDPOINTS_STATUS,
  GROUP_PROXY,
  HEALTH_CHECK,
  PROXY,
  TIME,
} from "./whole_endpoints.ts";

const NAME = "whole";
const SELECTOR: Fields = {
  matchLabels: { app: "web" },
  matchExpressions: [{ key: "app", operator: "In", values: ["web"] }],
};

const VIP: Fields = {
  name: "svc:web-service",
  tags: ["tag:web-service"],
  autoApprove: true,
  sharing: "Attach",
  tls: "Passthrough",
  proxyProtocol: false,
};

const SERVICES: Fields = {
  selector: SELECTOR,
  vipService: { ...VIP, ports: ["tcp:80", "tcp:443"], comment: "The shop", adopt: false },
  loadBalancing: {
    strategy: "failover",
    failover: { primary: ["a"], secondary: ["b"] },
    healthCheck: HEALTH_CHECK,
    circuitBreaker: { maxConnections: 1, maxPendingRequests: 2, maxRequests: 3, maxRetries: 4 },
    outlierDetection: {
      consecutive5xx: 5,
      interval: "10s",
      baseEjectionTime: "30s",
      maxEjectionPercent: 50,
    },
  },
  endpointTemplate: { labels: { app: "web" }, nameSuffix: "-endpoints", ...ENDPOINTS },
};

const SERVICES_STATUS: Fields = {
  selectedEndpoints: [{
    name: "web",
    namespace: "default",
    machines: ["web-ingress-0", "web-ingress-1"],
    status: "Ready",
    healthStatus: { healthyMachines: 2, unhealthyMachines: 0 },
  }],
  vipServiceStatus: {
    created: true,
    serviceName: "svc:web-service",
    addresses: ["100.100.0.1", "fd7a:115c:a1e0::1"],
    dnsName: "web-service.tail8eff9.ts.net",
    backendCount: 2,
    healthyBackendCount: 2,
    owner: "operator-1",
    consumers: [{ cluster: "c1", operator: "operator-1", nodeIDs: ["nABC"] }],
    hosts: [{ nodeID: "nABC", approvalLevel: "approved:auto", configured: "ready" }],
  },
  totalBackends: 2,
  healthyBackends: 2,
  conditions: conditions(
    ["Accepted", "Accepted"],
    ["EndpointsSelected", "EndpointsSelected"],
    ["VIPServiceReady", "VIPServiceCreated"],
    ["Ready", "Ready"],
  ),
};

const GATEWAY: Fields = {
  gatewayRef: { name: "eg-gateway", namespace: "envoy-gateway-system" },
  tailnets: [{
    name: "corp",
    tailscaleTailnetRef: { name: "corp-tailnet" },
    serviceDiscovery: DISCOVERY,
    routeGeneration: {
      ingress: {
        hostPattern: "{service}.{tailnet}.gateway.local",
        pathPrefix: "/",
        protocol: "HTTPS",
      },
      egress: {
        hostPattern: "{service}.tailscale.local",
        pathPrefix: "/tailscale/{service}/",
        protocol: "HTTP",
        delivery: "HTTPRoute",
      },
    },
    tags: ["tag:gateway"],
    proxy: PROXY,
  }],
  publish: { enabled: true, routes: SELECTOR, perRoute: false, vipService: VIP },
  networkPolicy: { enabled: true },
  extensionServer: {
    image: "tailscale-gateway:v1",
    replicas: 2,
    resources: { limits: { cpu: 1, memory: "256Mi" } },
  },
};

const GATEWAY_STATUS: Fields = {
  tailnetStatus: [{
    name: "corp",
    discoveredServices: 3,
    lastSync: TIME,
    conditions: conditions(["Ready", "Ready"]),
  }],
  generatedRoutes: { ingressRoutes: 1, egressRoutes: 3 },
  services: [{
    name: "svc:edge-eg-gateway",
    vipAddresses: ["100.100.0.1"],
    dnsName: "edge-eg-gateway.tail8eff9.ts.net",
    ownerCluster: "c1",
    consumerCount: 2,
    status: "Ready",
  }],
  extensionServerStatus: {
    readyReplicas: 2,
    desiredReplicas: 2,
    serviceEndpoint: "tailscale-gateway.tailscale-gateway-system.svc:5005",
    lastHookCall: TIME,
  },
  conditions: conditions(
    ["Accepted", "Accepted"],
    ["GatewayValid", "GatewayValid"],
    ["TailnetsValid", "TailnetsValid"],
    ["ExtensionServerReady", "ExtensionServerReady"],
    ["ServicesReady", "ServicesConfigured"],
    ["Programmed", "Programmed"],
    ["Ready", "Ready"],
  ),
};

const TARGET: Fields = {
  group: "gateway.networking.k8s.io",
  kind: "HTTPRoute",
  name: "web",
  sectionName: "admin",
};

const POLICY: Fields = {
  targetRefs: [TARGET],
  rules: [
    {
      name: "admins",
      matches: [{
        tailnet: {
          tags: ["tag:admin"],
          hostnames: ["ops-*"],
          ips: ["100.64.0.0/24"],
          users: ["*@example.com"],
        },
        path: { type: "PathPrefix", value: "/admin" },
        headers: [{ type: "Exact", name: "x-env", value: "prod" }],
        methods: ["GET"],
      }],
      actions: [{ type: "Deny", statusCode: 403 }],
    },
    { name: "all", actions: [{ type: "Allow" }] },
  ],
  defaultAction: "Allow",
};

const POLICY_STATUS: Fields = {
  ancestors: [{
    ancestorRef: { ...TARGET, namespace: "default" },
    controllerName: "gateway.tailscale.com/controller",
    conditions: conditions(["Accepted", "Accepted"], ["Programmed", "Programmed"]),
  }],
};

const PROXY_GROUP: Fields = {
  tailnet: "test-tailnet",
  type: "bidirectional",
  replicas: 2,
  tags: ["tag:k8s-proxy"],
  proxy: GROUP_PROXY,
};

const PROXY_GROUP_STATUS: Fields = {
  devices: [{ hostname: "whole-pg-egress-0", tailnetIPs: ["100.64.0.9", "fd7a:115c:a1e0::9"] }],
  conditions: conditions(["Accepted", "Accepted"], ["Ready", "ProxyGroupReady"]),
};

function whole(kind: string, spec: Fields, status: Fields): KubeObject & Fields {
  return { ...objectOf(kind, spec, NAME), status };
}

/** Whole objects, by kind. */
export const WHOLE = {
  TailscaleEndpoints: whole("TailscaleEndpoints", ENDPOINTS, ENDPOINTS_STATUS),
  TailscaleServices: whole("TailscaleServices", SERVICES, SERVICES_STATUS),
  TailscaleGateway: whole("TailscaleGateway", GATEWAY, GATEWAY_STATUS),
  TailscaleRoutePolicy: whole("TailscaleRoutePolicy", POLICY, POLICY_STATUS),
  TailscaleProxyGroup: whole("TailscaleProxyGroup", PROXY_GROUP, PROXY_GROUP_STATUS),
} as const;
