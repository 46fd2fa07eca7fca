import type { Case, Fields } from "./cases.ts";

const kind = "TailscaleTailnet";
const tailnet = (spec: Fields = {}): Fields => ({ oauthSecretName: "tailscale-oauth", ...spec });
const namespaces = (allowedNamespaces: Fields): Fields => tailnet({ allowedNamespaces });
const expression = (requirement: Fields): Fields =>
  namespaces({
    from: "Selector",
    selector: { matchExpressions: [{ key: "team", ...requirement }] },
  });

const URL_RULE = "must be an http or https URL without credentials, query or fragment";

export const tailnetCases: readonly Case[] = [
  {
    asks: "from: Selector needs selector",
    kind,
    accepted: [
      tailnet(),
      namespaces({}),
      namespaces({ from: "Selector", selector: {} }),
      namespaces({ from: "Selector", selector: { matchLabels: { team: "web" } } }),
    ],
    refused: [namespaces({ from: "Selector" })],
  },
  {
    asks: "selector is only for from: Selector",
    kind,
    accepted: [namespaces({ from: "All" })],
    refused: [namespaces({ from: "All", selector: {} }), namespaces({ selector: {} })],
  },
  {
    asks: "In and NotIn need values; Exists and DoesNotExist take none",
    kind,
    accepted: [
      expression({ operator: "In", values: ["web"] }),
      expression({ operator: "Exists" }),
      expression({ operator: "DoesNotExist", values: [] }),
    ],
    refused: [
      expression({ operator: "In" }),
      expression({ operator: "NotIn", values: [] }),
      expression({ operator: "Exists", values: ["web"] }),
    ],
  },
  {
    asks: URL_RULE,
    kind,
    accepted: [
      tailnet({ apiURL: "http://127.0.0.1:8080", loginURL: "https://headscale.example.com/" }),
      tailnet({ apiURL: "http://[::1]:8080/base" }),
    ],
    refused: [
      tailnet({ apiURL: "api.tailscale.com" }),
      tailnet({ apiURL: "ftp://api.tailscale.com" }),
      tailnet({ apiURL: "https://user:secret@api.tailscale.com" }),
      tailnet({ apiURL: "https://api.tailscale.com?key=1" }),
      tailnet({ loginURL: "https://" }),
      tailnet({ loginURL: "http://host:port" }),
    ],
  },
  {
    asks: "an oauthSecretName",
    schemaSays: /spec\.oauthSecretName: Required value/,
    kind,
    accepted: [tailnet()],
    refused: [{}],
  },
  {
    asks: "tags as the tailnet's policy writes them",
    schemaSays: /should match '\^tag:/,
    kind,
    accepted: [tailnet({ tags: ["tag:k8s", "tag:A-1"], allowedTags: [] })],
    refused: [
      tailnet({ tags: ["k8s"] }),
      tailnet({ tags: ["tag:1"] }),
      tailnet({ allowedTags: ["tag:a b"] }),
    ],
  },
  {
    asks: "no tag twice, and at most 32",
    schemaSays: /Duplicate value|Too many/,
    kind,
    accepted: [tailnet({ tags: Array.from({ length: 32 }, (_, i) => `tag:t${i}`) })],
    refused: [
      tailnet({ tags: ["tag:a", "tag:a"] }),
      tailnet({ tags: Array.from({ length: 33 }, (_, i) => `tag:t${i}`) }),
    ],
  },
];
