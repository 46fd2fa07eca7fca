/**
 * What policies have in common: their targets, and what is said of them (Gateway
 * API, GEP-713).
 *
 * @module
 */

import { z } from "zod";
import { conditions, LIMITS, namespaceName, objectName, port, text } from "./fields.ts";

/** An object of the policy's own namespace, or a section of it. */
export const localPolicyTargetReference = () =>
  z.object({
    group: z.string().max(LIMITS.string).describe(
      "The API group of the target, such as `gateway.networking.k8s.io`.",
    ),
    kind: text(LIMITS.name).describe("The kind of the target, such as `Gateway`."),
    name: objectName().describe("The name of the target, in the namespace of this object."),
    sectionName: objectName().exactOptional().describe(
      "The section of the target, such as a listener's name. By default the whole target.",
    ),
  }).describe("A target in the namespace of this object.");

/** A reference to an object of the policy's own namespace (Gateway API, GEP-713). */
export type LocalPolicyTargetReference = z.output<ReturnType<typeof localPolicyTargetReference>>;

const ancestorRef = z.object({
  group: z.string().max(LIMITS.string).exactOptional().describe("The ancestor's API group."),
  kind: text(LIMITS.name).exactOptional().describe("The ancestor's kind."),
  namespace: namespaceName().exactOptional().describe("The ancestor's namespace."),
  name: objectName().describe("The ancestor's name."),
  sectionName: objectName().exactOptional().describe("The section of the ancestor."),
  port: port().exactOptional().describe("The port of the ancestor."),
});

const ancestor = z.object({
  ancestorRef: ancestorRef.describe("The object that the policy came to bear on."),
  controllerName: text().describe("The controller that wrote this entry."),
  conditions: conditions(),
}).describe("What one controller says about one ancestor.");

/** `status.ancestors` of a policy (Gateway API PolicyStatus). */
export const policyAncestors = () =>
  z.array(ancestor).max(16).meta({ "x-kubernetes-list-type": "atomic" }).exactOptional()
    .describe("What controllers say about the objects that this one targets.");

/** What one controller says about one target of a policy. */
export type PolicyAncestorStatus = NonNullable<
  z.output<ReturnType<typeof policyAncestors>>
>[number];
