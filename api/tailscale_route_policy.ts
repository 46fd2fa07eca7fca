/**
 * TailscaleRoutePolicy: who of the tailnet may do what at routes.
 *
 * @module
 */

import { z } from "zod";
import { AGE_COLUMN, API_GROUP, conditionsOf, defineKind, type KindOf, namesOf } from "./kind.ts";
import { localPolicyTargetReference, policyAncestors } from "./policy_fields.ts";
import { GATEWAY, GATEWAY_GROUP, ROUTE_TYPES } from "./resources.ts";
import { policyRules } from "./route_policy_rules.ts";
import { withRules } from "./rules.ts";

const reasons = {
  // Accepted
  Accepted: "The policy can be acted on for the target.",
  NotSupported:
    "The policy asks for something that this version does not do; the message says what.",
  Invalid: "The policy contradicts itself, or does not fit the target; the message says how.",
  TargetNotFound: "There is no such target, or it has no such section.",
  Conflicted: "An older policy has the same target; this one is not in force there.",
  Overridden:
    "A policy of a more specific target takes precedence; this one is not in force there.",
  // Programmed
  Programmed: "The rules are in Envoy's configuration.",
  ClientUnknown:
    "The tailnet client of a request cannot be told, for want of the PROXY protocol; the message says where to turn it on.",
  HooksNotCalled:
    "Envoy Gateway never called the hooks: its configuration lacks the extension server.",
  Pending: "Not in Envoy's configuration yet.",
} as const;

/** The reasons of the conditions in a TailscaleRoutePolicy's `status.ancestors`. */
export const TailscaleRoutePolicyReason = namesOf(reasons);
/** A reason of the conditions in a TailscaleRoutePolicy's `status.ancestors`. */
export type TailscaleRoutePolicyReason = keyof typeof TailscaleRoutePolicyReason;

const refusals = ["NotSupported", "Invalid", "TargetNotFound", "Conflicted", "Overridden"] as const;

const conditionDocs = conditionsOf<TailscaleRoutePolicyReason>()({
  Accepted: {
    meaning: "In `status.ancestors`: the policy can be acted on for that target.",
    reasons: ["Accepted", ...refusals, "Pending"],
  },
  Programmed: {
    meaning: "In `status.ancestors`: Envoy enforces the policy for that target.",
    reasons: ["Programmed", "ClientUnknown", "HooksNotCalled", ...refusals, "Pending"],
  },
});

/** The condition types in a TailscaleRoutePolicy's `status.ancestors`. */
export const TailscaleRoutePolicyCondition = namesOf(conditionDocs);

const SERVICES = "TailscaleServices";
const KINDS = [GATEWAY, ...ROUTE_TYPES].map(({ kind }) => kind);
const CEL_KINDS = KINDS.map((kind) => `'${kind}'`).join(", ");

const targetRef = () =>
  withRules(localPolicyTargetReference(), {
    rule:
      `self.group == '${GATEWAY_GROUP}' ? self.kind in [${CEL_KINDS}] : self.group == '${API_GROUP}' && self.kind == '${SERVICES}'`,
    message:
      `must be a Gateway, HTTPRoute, GRPCRoute, TLSRoute, TCPRoute or UDPRoute of ${GATEWAY_GROUP}, or a ${SERVICES} of ${API_GROUP}`,
    holds: ({ group, kind }) =>
      group === GATEWAY_GROUP ? KINDS.includes(kind) : group === API_GROUP && kind === SERVICES,
  });

const spec = z.object({
  targetRefs: z.array(targetRef()).min(1).max(16).meta({ "x-kubernetes-list-type": "atomic" })
    .describe("What the policy is about, in the namespace of this object."),
  rules: policyRules().exactOptional().describe(
    "What is done with which requests; the first rule that matches decides.",
  ),
  defaultAction: z.enum(["Allow", "Deny"]).default("Allow").describe(
    "What is done with a request that no rule matches.",
  ),
});

const status = z.object({ ancestors: policyAncestors() });

/** The kind TailscaleRoutePolicy. */
export const TailscaleRoutePolicy = defineKind({
  kind: "TailscaleRoutePolicy",
  plural: "tailscaleroutepolicies",
  scope: "Namespaced",
  shortNames: ["tsrp"],
  categories: ["tailscale"],
  description:
    "Says who of the tailnet may do what at a Gateway, a route or a TailscaleServices. Envoy enforces it, or `status.ancestors` says why it does not.",
  labels: { [`${GATEWAY_GROUP}/policy`]: "Direct" },
  spec,
  status,
  columns: [
    {
      name: "Kind",
      type: "string",
      jsonPath: ".spec.targetRefs[0].kind",
      description: "The kind of the first target.",
    },
    {
      name: "Target",
      type: "string",
      jsonPath: ".spec.targetRefs[0].name",
      description: "The name of the first target.",
    },
    ancestorColumn("Accepted", "status"),
    ancestorColumn("Programmed", "status"),
    AGE_COLUMN,
    { ...ancestorColumn("Accepted", "message"), name: "Message", wide: true },
  ],
  conditions: conditionDocs,
  reasons,
  example: {
    targetRefs: [{ group: GATEWAY_GROUP, kind: "HTTPRoute", name: "web" }],
    rules: [
      {
        name: "admins",
        matches: [{
          tailnet: { tags: ["tag:admin"], ips: ["100.64.0.0/24"] },
          path: { type: "PathPrefix", value: "/admin" },
          methods: ["GET"],
        }],
        actions: [{ type: "Allow" }],
      },
      {
        name: "nobody-else",
        matches: [{ path: { value: "/admin" } }],
        actions: [{ type: "Deny", statusCode: 403 }],
      },
    ],
    defaultAction: "Allow",
  },
});

/** A column from a condition of the first ancestor. */
function ancestorColumn(type: "Accepted" | "Programmed", field: "status" | "message") {
  return {
    name: type,
    type: "string" as const,
    jsonPath: `.status.ancestors[0].conditions[?(@.type=="${type}")].${field}`,
    description: `The ${field} of the condition ${type} for the first target.`,
  };
}
/** A TailscaleRoutePolicy as the API server stores it. */
export type TailscaleRoutePolicy = KindOf<typeof TailscaleRoutePolicy>;
/** Its spec. */
export type TailscaleRoutePolicySpec = TailscaleRoutePolicy["spec"];
/** Its status. */
export type TailscaleRoutePolicyStatus = z.output<typeof status>;
