/** An object of each kind with every field of its spec and status. */
import type { KubeObject } from "../../core/object.ts";
import { type Fields, objectOf } from "./cases.ts";

const NAME = "whole";
const TIME = "2026-01-01T00:00:00Z";
const SELECTOR: Fields = {
  matchLabels: { app: "web" },
  matchExpressions: [{ key: "app", operator: "In", values: ["web"] }],
};

/** Conditions of these types and reasons. */
function conditions(...reasons: readonly [type: string, reason: string][]): Fields[] {
  return reasons.map(([type, reason]) => ({
    type,
    status: "True",
    reason,
    message: "What is so.",
    lastTransitionTime: TIME,
    observedGeneration: 1,
  }));
}

const HEALTH_CHECK: Fields = {
  enabled: true,
  path: "/health",
  interval: "30s",
  timeout: "5s",
  healthyThreshold: 2,
  unhealthyThreshold: 3,
};

const DISCOVERY: Fields = {
  enabled: true,
  patterns: ["*.corp.internal", "api-*"],
  excludePatterns: ["proxy-*"],
  tags: ["tag:api"],
  port: 80,
  protocol: "HTTP",
  syncInterval: "30s",
};

/** `proxy` of a TailscaleProxyGroup. */
const GROUP_PROXY: Fields = {
  networking: "Kernel",
  privileged: true,
  image: "tailscale/tailscale:v1.98.4",
  imagePullPolicy: "IfNotPresent",
  imagePullSecrets: [{ name: "registry" }],
  resources: {
    requests: { cpu: "100m", memory: "128Mi" },
    limits: { cpu: "500m", memory: "256Mi" },
  },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "edge", operator: "Exists", effect: "NoSchedule" }],
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone" }],
  priorityClassName: "high",
  podLabels: { team: "web" },
  podAnnotations: { note: "a value" },
  hostnamePrefix: "edge",
  ephemeral: false,
  acceptRoutes: true,
};

const PROXY: Fields = { replicas: 2, connectionType: "bidirectional", ...GROUP_PROXY };

const ENDPOINTS: Fields = {
  tailnet: "test-tailnet",
  tags: ["tag:k8s-proxy"],
  proxy: PROXY,
  ports: [{
    name: "http",
    port: 80,
    protocol: "TCP",
    targetPort: 8080,
    backendRef: { kind: "Service", name: "web", namespace: "apps", port: 8080 },
  }],
  endpoints: [
    {
      name: "api",
      tailscaleIP: "100.64.0.10",
      tailscaleFQDN: "api.tail8eff9.ts.net",
      port: 8080,
      protocol: "HTTPS",
      weight: 1,
      tags: ["tag:api"],
      healthCheck: HEALTH_CHECK,
      tls: {
        serverName: "api.example.com",
        caBundleRef: { kind: "ConfigMap", name: "ca" },
        clientCertificateRef: { name: "client" },
      },
    },
    {
      name: "web",
      externalTarget: "web.apps.svc.cluster.local:8080",
      port: 8080,
      protocol: "HTTP",
      weight: 1,
    },
  ],
  autoDiscovery: DISCOVERY,
};

const ENDPOINTS_STATUS: Fields = {
  statefulSetRefs: [{
    name: "whole-egress",
    namespace: "default",
    connectionType: "egress",
    desiredReplicas: 2,
    readyReplicas: 2,
    service: "whole-egress-svc",
    serviceFQDN: "whole-egress-svc.default.svc.cluster.local",
    clusterIP: "10.96.0.10",
    createdAt: TIME,
  }],
  devices: [{
    hostname: "edge-egress-0",
    tailscaleIP: "100.64.0.7",
    tailscaleIPs: ["100.64.0.7", "fd7a:115c:a1e0::7"],
    tailscaleFQDN: "edge-egress-0.tail8eff9.ts.net",
    nodeID: "nABC",
    statefulSetPod: "whole-egress-0",
    podIP: "10.244.1.7",
    connected: true,
    online: true,
    lastSeen: TIME,
    tags: ["tag:k8s-proxy"],
  }],
  endpointStatus: [
    { name: "whole-egress-0", tailscaleIP: "100.64.0.7", healthStatus: "Healthy", source: "Proxy" },
    {
      name: "api",
      tailscaleIP: "100.64.0.10",
      port: 8080,
      healthStatus: "Unknown",
      source: "Discovered",
      message: "Why.",
    },
  ],
  totalEndpoints: 4,
  healthyEndpoints: 4,
  discoveredEndpoints: 1,
  lastSync: TIME,
  conditions: conditions(
    ["Accepted", "Accepted"],
    ["ResolvedRefs", "ResolvedRefs"],
    ["StatefulSetsReady", "AllReplicasReady"],
    ["DevicesReady", "AllDevicesConnected"],
    ["Synced", "DiscoverySuccessful"],
    ["Ready", "ProxyPortUnprotected"],
  ),
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
