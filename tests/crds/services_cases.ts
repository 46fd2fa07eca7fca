import type { Case, Fields } from "./cases.ts";
import { endpointsCases } from "./endpoints_cases.ts";

const kind = "TailscaleServices";
const SELECTOR: Fields = { matchLabels: { app: "web" } };
const spec = (fields: Fields = {}): Fields => ({ selector: SELECTOR, ...fields });
const vip = (vipService: Fields): Fields => spec({ vipService });
const balanced = (loadBalancing: Fields): Fields => spec({ loadBalancing });
const template = (fields: Fields, selector: Fields = SELECTOR): Fields => ({
  selector,
  endpointTemplate: { tailnet: "corp", labels: { app: "web" }, ...fields },
});
const labelled = (labels: Fields, selector: Fields): Fields => template({ labels }, selector);
const expression = (requirement: Fields): Fields => ({
  matchExpressions: [{ key: "app", ...requirement }],
});

const UNSELECTED =
  "endpointTemplate.labels must satisfy selector, which must not be empty: else what is made is never selected";

/** The template has every field of a TailscaleEndpoints' spec, and so every rule. */
const templateCases: readonly Case[] = endpointsCases.map((item) => ({
  ...item,
  kind,
  ...(item.schemaSays
    ? {
      schemaSays: new RegExp(item.schemaSays.source.replaceAll("spec\\.", "endpointTemplate\\.")),
    }
    : {}),
  accepted: item.accepted.map((fields) => template(fields)),
  refused: item.refused.map((fields) =>
    "tailnet" in fields ? template(fields) : { selector: SELECTOR, endpointTemplate: fields }
  ),
}));

export const servicesCases: readonly Case[] = [
  {
    asks: UNSELECTED,
    kind,
    accepted: [
      template({}),
      labelled({ app: "web", tier: "front" }, SELECTOR),
      labelled({ app: "web" }, expression({ operator: "In", values: ["api", "web"] })),
      labelled({}, expression({ operator: "NotIn", values: ["api"] })),
      labelled({ app: "web" }, expression({ operator: "Exists" })),
      labelled({}, expression({ operator: "DoesNotExist" })),
      { selector: {} },
    ],
    refused: [
      template({}, {}),
      template({}, { matchLabels: {}, matchExpressions: [] }),
      labelled({}, SELECTOR),
      labelled({ app: "api" }, SELECTOR),
      labelled({ app: "web" }, { ...SELECTOR, ...expression({ operator: "DoesNotExist" }) }),
      labelled({ app: "web" }, expression({ operator: "In", values: ["api"] })),
      labelled({ app: "web" }, expression({ operator: "NotIn", values: ["web"] })),
      labelled({ tier: "web" }, expression({ operator: "Exists" })),
    ],
  },
  {
    asks: "a name of a VIP service, with its prefix and a DNS label",
    schemaSays: /spec\.vipService\.name: (Invalid value|Too long)/,
    kind,
    accepted: [
      vip({ name: "svc:web-service" }),
      vip({ name: `svc:${"a".repeat(63)}` }),
      spec(),
      vip({}),
    ],
    refused: [
      vip({ name: "web-service" }),
      vip({ name: "svc:Web" }),
      vip({ name: "svc:" }),
      vip({ name: `svc:${"a".repeat(64)}` }),
    ],
  },
  {
    asks: "the port of a VIP must be between 1 and 65535",
    kind,
    accepted: [vip({ ports: ["tcp:80", "tcp:443", "udp:53", "tcp:65535"] }), vip({ ports: [] })],
    refused: [vip({ ports: ["tcp:65536"] }), vip({ ports: ["tcp:80", "udp:99999"] })],
  },
  {
    asks: "ports in the form tcp:80, none twice",
    schemaSays: /spec\.vipService\.ports(\[0\]: Invalid value|\[1\]: Duplicate value)/,
    kind,
    accepted: [vip({ ports: ["tcp:53", "udp:53"] })],
    refused: [
      vip({ ports: ["80"] }),
      vip({ ports: ["tcp:0"] }),
      vip({ ports: ["sctp:80"] }),
      vip({ ports: ["tcp:80", "tcp:80"] }),
    ],
  },
  {
    asks: "values of the lists",
    schemaSays: /(sharing|tls|strategy): Unsupported value/,
    kind,
    accepted: [
      vip({ sharing: "Exclusive", tls: "Terminate", proxyProtocol: true, adopt: true }),
      balanced({ strategy: "least-connections" }),
    ],
    refused: [
      vip({ sharing: "Share" }),
      vip({ tls: "passthrough" }),
      balanced({ strategy: "RoundRobin" }),
    ],
  },
  {
    asks: "weights is only for strategy: weighted",
    kind,
    accepted: [
      balanced({ strategy: "weighted", weights: { "web-proxies": 3, other: 0 } }),
      balanced({ strategy: "weighted" }),
    ],
    refused: [
      balanced({ weights: { web: 1 } }),
      balanced({ strategy: "round-robin", weights: { web: 1 } }),
    ],
  },
  {
    asks: "failover is only for strategy: failover",
    kind,
    accepted: [balanced({ strategy: "failover", failover: { primary: ["a"], secondary: ["b"] } })],
    refused: [
      balanced({ failover: { primary: ["a"], secondary: ["b"] } }),
      balanced({ strategy: "weighted", failover: { primary: ["a"], secondary: ["b"] } }),
    ],
  },
  {
    asks: "strategy: failover needs failover",
    kind,
    accepted: [balanced({ strategy: "round-robin" }), balanced({})],
    refused: [balanced({ strategy: "failover" })],
  },
  {
    asks: "an object is in primary and in secondary",
    kind,
    accepted: [
      balanced({ strategy: "failover", failover: { primary: ["a", "b"], secondary: ["c"] } }),
    ],
    refused: [
      balanced({ strategy: "failover", failover: { primary: ["a", "b"], secondary: ["b"] } }),
    ],
  },
  {
    asks: "a duration here is at least 1s",
    kind,
    accepted: [
      balanced({
        healthCheck: {
          enabled: true,
          path: "/health",
          interval: "30s",
          timeout: "5s",
          healthyThreshold: 2,
          unhealthyThreshold: 3,
        },
        circuitBreaker: {
          maxConnections: 1024,
          maxPendingRequests: 0,
          maxRequests: 4_294_967_295,
          maxRetries: 3,
        },
        outlierDetection: {
          consecutive5xx: 5,
          interval: "10s",
          baseEjectionTime: "30s",
          maxEjectionPercent: 50,
        },
      }),
    ],
    refused: [
      balanced({ healthCheck: { interval: "10ms" } }),
      balanced({ outlierDetection: { interval: "0s" } }),
    ],
  },
  {
    asks: "whole selectors",
    schemaSays: /spec\.selector/,
    kind,
    accepted: [spec(), { selector: expression({ operator: "Exists" }) }],
    refused: [{}, { selector: { matchLabels: { app: 1 } } }],
  },
  {
    asks: "In and NotIn need values; Exists and DoesNotExist take none",
    kind,
    accepted: [{ selector: expression({ operator: "NotIn", values: ["api"] }) }],
    refused: [
      { selector: expression({ operator: "NotIn" }) },
      { selector: expression({ operator: "DoesNotExist", values: ["web"] }) },
    ],
  },
  ...templateCases,
];
