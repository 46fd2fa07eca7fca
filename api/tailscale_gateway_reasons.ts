/**
 * The conditions of a TailscaleGateway, and their closed list of reasons.
 *
 * @module
 */

import { conditionsOf, namesOf } from "./kind.ts";

/** Each reason with a sentence, for the reference page. */
export const gatewayReasons = {
  // Accepted
  Accepted: "The spec can be acted on.",
  NotSupported: "The spec asks for something that this version does not do; the message says what.",
  InvalidSpec: "The spec contradicts itself in a way that only the operator can see.",
  Conflicted:
    "Another object claims the same Gateway, host and path, or VIP service; the message says which.",
  // GatewayValid
  GatewayValid: "The Gateway is there, may be used, and belongs to Envoy Gateway.",
  GatewayNotFound: "There is no Gateway of the name in `spec.gatewayRef`.",
  GatewayNotSupported: "The Gateway's class is not one of Envoy Gateway.",
  RefNotPermitted: "A reference into another namespace needs a ReferenceGrant there.",
  // TailnetsValid
  TailnetsValid: "Every tailnet is there, may be used, and is ready.",
  TailnetNotFound: "There is no TailscaleTailnet of a name in `spec.tailnets`.",
  NamespaceNotAllowed: "A TailscaleTailnet does not let objects of this namespace use it.",
  TagsNotPermitted:
    "A tag is not among a tailnet's allowedTags, or the credential may not give it.",
  TailnetNotReady: "A TailscaleTailnet is not ready; its own conditions say why.",
  TailnetUnavailable: "Tailscale's API cannot be reached; what runs goes on.",
  // ExtensionServerReady
  ExtensionServerReady: "Envoy Gateway calls the hooks, and they answer.",
  ExtensionServerNotReady: "The replicas of `spec.extensionServer` are not ready.",
  HooksNotCalled:
    "Envoy Gateway never called the hooks: its configuration lacks the extension server. The message has what to add.",
  HooksFailed: "Envoy Gateway's last call of the hooks failed; the message says why.",
  // ServicesReady
  ServicesConfigured: "Every VIP service exists and every route is made.",
  ServiceError: "A VIP service or a route could not be made; tried again after a minute.",
  ServicesPending: "The VIP services are about to be made.",
  PublishDisabled: "`spec.publish` is not enabled.",
  // Programmed
  Programmed: "What was made is in Envoy's configuration.",
  ProgrammingPending: "Envoy Gateway has not taken the last change yet.",
  // Ready
  Ready: "All of the above is well.",
  Deleting: "The object is being deleted.",
  Pending: "Not looked at yet.",
} as const;

/** The reasons of a TailscaleGateway's conditions. */
export const TailscaleGatewayReason = namesOf(gatewayReasons);
/** A reason of a TailscaleGateway's conditions. */
export type TailscaleGatewayReason = keyof typeof TailscaleGatewayReason;

const refusals = ["NotSupported", "InvalidSpec", "Conflicted"] as const;
const gateway = ["GatewayNotFound", "GatewayNotSupported", "RefNotPermitted"] as const;
const tailnets = [
  "TailnetNotFound",
  "NamespaceNotAllowed",
  "TagsNotPermitted",
  "TailnetNotReady",
  "TailnetUnavailable",
] as const;
const server = ["ExtensionServerNotReady", "HooksNotCalled", "HooksFailed"] as const;
const services = ["ServiceError", "ServicesPending"] as const;
const always = ["Pending", "Deleting"] as const;

/** Each condition type with its meaning and reasons. */
export const gatewayConditions = conditionsOf<TailscaleGatewayReason>()({
  Accepted: {
    meaning: "The spec can be acted on.",
    reasons: ["Accepted", ...refusals, "Pending"],
  },
  GatewayValid: {
    meaning: "The Gateway can be used.",
    reasons: ["GatewayValid", ...gateway, ...refusals, ...always],
  },
  TailnetsValid: {
    meaning: "The tailnets can be used.",
    reasons: ["TailnetsValid", ...tailnets, ...refusals, ...always],
  },
  ExtensionServerReady: {
    meaning: "Envoy Gateway calls the hooks.",
    reasons: ["ExtensionServerReady", ...server, ...refusals, ...always],
  },
  ServicesReady: {
    meaning: "The VIP services and routes are made.",
    reasons: [
      "ServicesConfigured",
      "PublishDisabled",
      ...services,
      ...gateway,
      ...tailnets,
      ...refusals,
      ...always,
    ],
  },
  Programmed: {
    meaning: "Envoy has the configuration.",
    reasons: ["Programmed", "ProgrammingPending", ...gateway, ...server, ...refusals, ...always],
  },
  Ready: {
    meaning: "The summary of all else.",
    reasons: [
      "Ready",
      ...gateway,
      ...tailnets,
      ...server,
      ...services,
      "ProgrammingPending",
      ...refusals,
      ...always,
    ],
  },
});

/** The condition types of a TailscaleGateway. */
export const TailscaleGatewayCondition = namesOf(gatewayConditions);
