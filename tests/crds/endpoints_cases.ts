import type { Case, Fields } from "./cases.ts";
import { endpointCases } from "./endpoint_cases.ts";

const kind = "TailscaleEndpoints";
const spec = (fields: Fields = {}): Fields => ({ tailnet: "corp", ...fields });
const ports = (...list: readonly Fields[]): Fields => spec({ ports: list });
const proxy = (fields: Fields): Fields => spec({ proxy: fields });

const WHOLE_PROXY: Fields = {
  image: "tailscale/tailscale:v1.98.4",
  imagePullPolicy: "IfNotPresent",
  imagePullSecrets: [{ name: "registry" }],
  resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: 1, memory: "1.5Gi" } },
  nodeSelector: { "kubernetes.io/os": "linux" },
  tolerations: [{ key: "edge", operator: "Exists", effect: "NoExecute", tolerationSeconds: 60 }],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }],
    },
  },
  topologySpreadConstraints: [{
    maxSkew: 1,
    topologyKey: "zone",
    whenUnsatisfiable: "DoNotSchedule",
  }],
  priorityClassName: "system-cluster-critical",
  podLabels: { team: "web" },
  podAnnotations: { note: "a value" },
  hostnamePrefix: "edge",
};

export const endpointsCases: readonly Case[] = [
  {
    asks: "proxy and proxyGroup cannot be set together: the group has its own proxies",
    kind,
    accepted: [spec(), proxy({}), proxy(WHOLE_PROXY), spec({ proxyGroup: "shared" })],
    refused: [spec({ proxy: {}, proxyGroup: "shared" })],
  },
  {
    asks: "privileged is only for networking: Kernel",
    kind,
    accepted: [proxy({ privileged: true, networking: "Kernel" }), proxy({ networking: "Kernel" })],
    refused: [proxy({ privileged: true }), proxy({ privileged: true, networking: "Userspace" })],
  },
  {
    asks: "two ports have the same name",
    kind,
    accepted: [ports({ name: "http", port: 80 }, { name: "https", port: 443 }, { port: 90 })],
    refused: [ports({ name: "http", port: 80 }, { name: "http", port: 443 })],
  },
  {
    asks: "a name of the form tcp-<port> or udp-<port> must be that of this very port",
    kind,
    accepted: [
      ports({ name: "tcp-80", port: 80 }, { name: "udp-53", port: 53, protocol: "UDP" }),
      ports({ name: "tcp-http", port: 80 }, { name: "http-80", port: 81 }),
    ],
    refused: [
      ports({ name: "tcp-80", port: 443 }),
      ports({ name: "udp-80", port: 80 }),
      ports({ name: "tcp-99999", port: 80 }),
    ],
  },
  {
    asks: "no port and protocol twice",
    schemaSays: /spec\.ports\[1\]: Duplicate value/,
    kind,
    accepted: [ports({ port: 53 }, { port: 53, protocol: "UDP" })],
    refused: [
      ports({ name: "a", port: 80 }, { name: "b", port: 80 }),
      ports({ name: "a", port: 80 }, { name: "b", port: 80, protocol: "TCP" }),
    ],
  },
  {
    asks: "whole backendRefs",
    schemaSays: /spec\.ports\[0\]\.backendRef\.(port: Required value|kind: Unsupported value)/,
    kind,
    accepted: [
      ports({ port: 80, targetPort: 8080, backendRef: { name: "web", port: 8080 } }),
      ports({
        port: 80,
        backendRef: { kind: "Service", name: "web", namespace: "apps", port: 80 },
      }),
    ],
    refused: [
      ports({ port: 80, backendRef: { name: "web" } }),
      ports({ port: 80, backendRef: { kind: "Pod", name: "web", port: 80 } }),
    ],
  },
  {
    asks: "0 to 64 replicas",
    schemaSays: /spec\.proxy\.replicas: Invalid value/,
    kind,
    accepted: [proxy({ replicas: 0 }), proxy({ replicas: 64 })],
    refused: [proxy({ replicas: -1 }), proxy({ replicas: 65 }), proxy({ replicas: 1.5 })],
  },
  {
    asks: "quantities as Kubernetes writes them",
    schemaSays: /spec\.proxy\.resources\.limits\.cpu/,
    kind,
    accepted: [proxy({ resources: { limits: { cpu: 2, memory: "1e3" } } })],
    refused: [proxy({ resources: { limits: { cpu: "much" } } })],
  },
  {
    asks: "a connection type of the three",
    schemaSays: /spec\.proxy\.connectionType: Unsupported value/,
    kind,
    accepted: ["ingress", "egress", "bidirectional"].map((type) => proxy({ connectionType: type })),
    refused: [proxy({ connectionType: "both" })],
  },
  {
    asks: "the name of a tailnet",
    schemaSays: /spec\.tailnet/,
    kind,
    accepted: [spec()],
    refused: [{}, { tailnet: "tail8eff9.ts.net" }, { tailnet: "" }],
  },
  {
    asks: "globs",
    schemaSays: /spec\.autoDiscovery\.patterns\[0\]/,
    kind,
    accepted: [spec({ autoDiscovery: { enabled: true, patterns: ["*.corp.internal", "api-?"] } })],
    refused: [spec({ autoDiscovery: { patterns: ["^api$"] } })],
  },
  ...endpointCases,
];
