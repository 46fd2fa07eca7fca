import type { Case, Fields } from "./cases.ts";

const kind = "TailscaleGateway";
const TAILNET: Fields = { name: "corp", tailscaleTailnetRef: { name: "corp-tailnet" } };
const spec = (fields: Fields = {}): Fields => ({
  gatewayRef: { name: "eg-gateway" },
  tailnets: [TAILNET],
  ...fields,
});
const tailnet = (fields: Fields): Fields => spec({ tailnets: [{ ...TAILNET, ...fields }] });
const generation = (routeGeneration: Fields): Fields => tailnet({ routeGeneration });
const publish = (fields: Fields): Fields => spec({ publish: fields });

export const gatewayCases: readonly Case[] = [
  {
    asks: "vipService.name is only without perRoute: each route's VIP has a name of its own",
    kind,
    accepted: [
      spec(),
      publish({ vipService: { name: "svc:shop", tags: ["tag:web"] } }),
      publish({ perRoute: true, vipService: { tls: "Terminate" } }),
      publish({ enabled: false, perRoute: true }),
    ],
    refused: [publish({ perRoute: true, vipService: { name: "svc:shop" } })],
  },
  {
    asks: "In and NotIn need values; Exists and DoesNotExist take none",
    kind,
    accepted: [
      publish({ routes: { matchLabels: { share: "yes" } } }),
      publish({ routes: { matchExpressions: [{ key: "share", operator: "Exists" }] } }),
    ],
    refused: [publish({ routes: { matchExpressions: [{ key: "share", operator: "In" }] } })],
  },
  {
    asks: "privileged is only for networking: Kernel",
    kind,
    accepted: [tailnet({ proxy: { privileged: true, networking: "Kernel" } })],
    refused: [tailnet({ proxy: { privileged: true } })],
  },
  {
    asks: "a duration here is at least 1s",
    kind,
    accepted: [tailnet({ serviceDiscovery: { enabled: true, syncInterval: "1s" } })],
    refused: [tailnet({ serviceDiscovery: { enabled: true, syncInterval: "10ms" } })],
  },
  {
    asks: "a Gateway and one tailnet at least, each with a name of its own",
    schemaSays:
      /spec\.(gatewayRef|tailnets)(\[1\])?: (Required value|Invalid value|Duplicate value)/,
    kind,
    accepted: [
      spec({ gatewayRef: { name: "eg", namespace: "envoy-gateway-system" } }),
      spec({ tailnets: [TAILNET, { ...TAILNET, name: "lab" }] }),
    ],
    refused: [
      { tailnets: [TAILNET] },
      spec({ tailnets: [] }),
      spec({ tailnets: [TAILNET, TAILNET] }),
    ],
  },
  {
    asks: "patterns with the variables that there are",
    schemaSays: /routeGeneration\.(ingress|egress)\.(hostPattern|pathPrefix): Invalid value/,
    kind,
    accepted: [
      generation({}),
      generation({ ingress: { hostPattern: "{service}-{tailnet}.{domain}", pathPrefix: "/a/b" } }),
      generation({ egress: { pathPrefix: "/{tailnet}/{service}/", delivery: "Inject" } }),
    ],
    refused: [
      generation({ ingress: { hostPattern: "{host}.example.com" } }),
      generation({ ingress: { hostPattern: "{service}..local" } }),
      generation({ egress: { pathPrefix: "tailscale/{service}" } }),
      generation({ egress: { pathPrefix: "/{port}/" } }),
    ],
  },
  {
    asks: "values of the lists",
    schemaSays: /(protocol|delivery|sharing): Unsupported value/,
    kind,
    accepted: [generation({ egress: { protocol: "HTTPS" }, ingress: { protocol: "HTTP" } })],
    refused: [
      generation({ egress: { protocol: "TCP" } }),
      generation({ egress: { delivery: "inject" } }),
      publish({ vipService: { sharing: "None" } }),
    ],
  },
  {
    asks: "resources of the extension server as in a pod",
    schemaSays: /spec\.extensionServer\.(replicas|resources)/,
    kind,
    accepted: [
      spec({ extensionServer: {} }),
      spec({
        extensionServer: { image: "gw:v1", replicas: 2, resources: { limits: { cpu: 1 } } },
        networkPolicy: { enabled: false },
      }),
    ],
    refused: [
      spec({ extensionServer: { replicas: -1 } }),
      spec({ extensionServer: { resources: { limits: { cpu: "much" } } } }),
    ],
  },
];
