/**
 * TailscaleGatewayRevision: makes Envoy Gateway call the hooks again when what
 * they would render for a Gateway has changed. Written by the operator alone.
 *
 * @module
 */

import { z } from "zod";
import { text } from "./fields.ts";
import { AGE_COLUMN, conditionsOf, defineKind, type KindOf, namesOf } from "./kind.ts";
import { localPolicyTargetReference, policyAncestors } from "./policy_fields.ts";

const reasons = {
  Accepted: "Envoy Gateway took the revision and called the hooks with it.",
} as const;

/** The reasons that Envoy Gateway gives in `status.ancestors`. */
export const TailscaleGatewayRevisionReason = namesOf(reasons);
/** A reason that Envoy Gateway gives in `status.ancestors`. */
export type TailscaleGatewayRevisionReason = keyof typeof TailscaleGatewayRevisionReason;

const conditionDocs = conditionsOf<TailscaleGatewayRevisionReason>()({
  Accepted: {
    meaning: "In `status.ancestors`, by Envoy Gateway: it took the revision.",
    reasons: ["Accepted"],
  },
});

/** The condition types in `status.ancestors`. */
export const TailscaleGatewayRevisionCondition = namesOf(conditionDocs);

const spec = z.object({
  targetRefs: z.array(localPolicyTargetReference()).min(1).max(16)
    .meta({ "x-kubernetes-list-type": "atomic" })
    .describe("The Gateway that the revision is of."),
  revision: text().describe(
    "A hash of what the hooks would render for the Gateway, a dot, and a counter.",
  ),
});

const status = z.object({ ancestors: policyAncestors() });

/** The kind TailscaleGatewayRevision. */
export const TailscaleGatewayRevision = defineKind({
  kind: "TailscaleGatewayRevision",
  plural: "tailscalegatewayrevisions",
  scope: "Namespaced",
  shortNames: [],
  categories: ["tailscale"],
  description:
    "Internal: makes Envoy Gateway call the hooks again for a Gateway. The operator writes the spec, Envoy Gateway the status; there is nothing to set by hand.",
  spec,
  status,
  columns: [
    {
      name: "Gateway",
      type: "string",
      jsonPath: ".spec.targetRefs[0].name",
      description: "The Gateway that the revision is of.",
    },
    {
      name: "Revision",
      type: "string",
      jsonPath: ".spec.revision",
      description: "What the hooks are to render.",
    },
    AGE_COLUMN,
  ],
  conditions: conditionDocs,
  reasons,
  example: {
    targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" }],
    revision: "4f6c1d0e9a7b.3",
  },
});
/** A TailscaleGatewayRevision as the API server stores it. */
export type TailscaleGatewayRevision = KindOf<typeof TailscaleGatewayRevision>;
/** Its spec. */
export type TailscaleGatewayRevisionSpec = TailscaleGatewayRevision["spec"];
