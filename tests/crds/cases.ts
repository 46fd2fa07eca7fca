/**
 * What the API server is to accept and to refuse: for every rule of the CRDs, and
 * for their schemas. Two judges are held to it: the real API server and `admit`.
 */
import type { KubeObject } from "../../core/object.ts";
import { endpointsCases } from "./endpoints_cases.ts";
import { gatewayCases } from "./gateway_cases.ts";
import { proxyGroupCases } from "./proxy_group_cases.ts";
import { routePolicyCases } from "./route_policy_cases.ts";
import { servicesCases } from "./services_cases.ts";
import { tailnetCases } from "./tailnet_cases.ts";

export type Fields = Record<string, unknown>;

/** Objects of one kind around one rule, or one part of a schema. */
export interface Case {
  /** The message of the rule as in the CRD, or what the schema asks for. */
  readonly asks: string;
  /** What the API server says instead, where `asks` is not a rule's message. */
  readonly schemaSays?: RegExp;
  readonly kind: string;
  readonly accepted: readonly Fields[];
  readonly refused: readonly Fields[];
}

/** An update of one object. */
export interface UpdateCase {
  readonly asks: string;
  readonly kind: string;
  readonly before: Fields;
  readonly accepted: Fields;
  readonly refused: Fields;
}

export const CASES: readonly Case[] = [
  ...tailnetCases,
  ...endpointsCases,
  ...servicesCases,
  ...gatewayCases,
  ...routePolicyCases,
  ...proxyGroupCases,
];

export const UPDATE_CASES: readonly UpdateCase[] = [
  {
    asks: "tailnet cannot be changed; delete the object and make a new one",
    kind: "TailscaleEndpoints",
    before: { tailnet: "corp" },
    accepted: { tailnet: "corp", tags: ["tag:k8s"] },
    refused: { tailnet: "other" },
  },
  {
    asks: "tailnet cannot be changed; delete the object and make a new one",
    kind: "TailscaleProxyGroup",
    before: { tailnet: "corp", type: "egress" },
    accepted: { tailnet: "corp", type: "bidirectional" },
    refused: { tailnet: "other", type: "egress" },
  },
];

/** Names that every kind refuses, and their neighbours that it accepts. */
export const NAMES = {
  accepted: ["a", "web-1", "a".repeat(63)],
  refused: ["1web", "web.apps", "a".repeat(64)],
} as const;

/** An object of a case. */
export function objectOf(kind: string, spec: Fields, name = "example"): KubeObject & Fields {
  return {
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind,
    metadata: kind === "TailscaleTailnet" ? { name } : { name, namespace: "default" },
    spec,
  };
}
