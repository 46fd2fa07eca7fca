/** Every field of a TailscaleEndpoints, and of what other kinds take from it. */
import type { Fields } from "./cases.ts";

export const TIME = "2026-01-01T00:00:00Z";
/** Conditions of these types and reasons. */
export function conditions(...reasons: readonly [type: string, reason: string][]): Fields[] {
  return reasons.map(([type, reason]) => ({
    type,
    status: "True",
    reason,
    message: "What is so.",
    lastTransitionTime: TIME,
    observedGeneration: 1,
  }));
}

export const HEALTH_CHECK: Fields = {
  enabled: true,
  path: "/health",
  interval: "30s",
  timeout: "5s",
  healthyThreshold: 2,
  unhealthyThreshold: 3,
};

export const DISCOVERY: Fields = {
  enabled: true,
  patterns: ["*.corp.internal", "api-*"],
  excludePatterns: ["proxy-*"],
  tags: ["tag:api"],
  port: 80,
  protocol: "HTTP",
  syncInterval: "30s",
};

/** `proxy` of a TailscaleProxyGroup. */
export const GROUP_PROXY: Fields = {
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

export const PROXY: Fields = { replicas: 2, connectionType: "bidirectional", ...GROUP_PROXY };

export const ENDPOINTS: Fields = {
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

export const ENDPOINTS_STATUS: Fields = {
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
