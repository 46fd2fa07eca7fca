/** What a user applies to reach a tailnet host by an HTTPRoute. */
import { OAUTH } from "./operator.ts";

/** The namespace of the user's objects. */
export const NAMESPACE = "office";

const GATEWAY_API = "gateway.networking.k8s.io/v1";

/** All but the TailscaleEndpoints. */
export function egressManifests(urls: { controlURL: string; apiURL: string }): object[] {
  return [...tailnetManifests(urls), ...routeManifests()];
}

function tailnetManifests({ controlURL, apiURL }: { controlURL: string; apiURL: string }) {
  return [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: NAMESPACE,
        labels: { "pod-security.kubernetes.io/enforce": "restricted" },
      },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "tailscale-oauth", namespace: NAMESPACE },
      stringData: { client_id: OAUTH.clientId, client_secret: OAUTH.clientSecret },
    },
    {
      apiVersion: "gateway.tailscale.com/v1alpha1",
      kind: "TailscaleTailnet",
      metadata: { name: "corp" },
      spec: {
        oauthSecretName: "tailscale-oauth",
        oauthSecretNamespace: NAMESPACE,
        tags: ["tag:k8s"],
        apiURL,
        loginURL: controlURL,
      },
    },
  ];
}

function routeManifests() {
  return [
    {
      apiVersion: GATEWAY_API,
      kind: "Gateway",
      metadata: { name: "edge", namespace: NAMESPACE },
      spec: { gatewayClassName: "eg", listeners: [{ name: "http", protocol: "HTTP", port: 80 }] },
    },
    {
      apiVersion: GATEWAY_API,
      kind: "HTTPRoute",
      metadata: { name: "wiki", namespace: NAMESPACE },
      spec: {
        parentRefs: [{ name: "edge" }],
        hostnames: ["wiki.example.com"],
        rules: [{
          backendRefs: [{
            group: "gateway.tailscale.com",
            kind: "TailscaleEndpoints",
            name: "intranet",
            port: 80,
          }],
        }],
      },
    },
  ];
}

/** The TailscaleEndpoints with one host. */
export function endpoints(tailscaleIP: string) {
  return {
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: "TailscaleEndpoints",
    metadata: { name: "intranet", namespace: NAMESPACE },
    spec: {
      tailnet: "corp",
      tags: ["tag:egress"],
      proxy: { connectionType: "egress", replicas: 2 },
      endpoints: [{ name: "wiki", tailscaleIP, port: 80 }],
    },
  };
}

interface WithConditions {
  status?: { conditions?: { type: string; status: string; reason: string; message: string }[] };
}

/** A condition of an object. */
export function conditionOf(object: WithConditions | undefined, type: string) {
  return object?.status?.conditions?.find((condition) => condition.type === type);
}

/** An object of each kind that is answered with `NotSupported` so far. */
export const UNSUPPORTED = [
  notSupported("TailscaleServices", {
    selector: { matchLabels: { app: "web" } },
    vipService: { name: "svc:web", ports: ["tcp:80"], tags: ["tag:web"] },
  }),
  notSupported("TailscaleGateway", {
    gatewayRef: { name: "edge" },
    tailnets: [{ name: "corp", tailscaleTailnetRef: { name: "corp" } }],
  }),
  notSupported("TailscaleRoutePolicy", {
    targetRefs: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "wiki" }],
    rules: [{ name: "all", actions: [{ type: "Allow" }] }],
  }),
  notSupported("TailscaleProxyGroup", { tailnet: "corp", type: "egress", replicas: 1 }),
];

function notSupported(kind: string, spec: object) {
  return {
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind,
    metadata: { name: "other", namespace: NAMESPACE },
    spec,
  };
}
