/**
 * The conditions of a TailscaleServices, and their closed list of reasons.
 *
 * @module
 */

import { conditionsOf, namesOf } from "./kind.ts";

/** Each reason with a sentence, for the reference page. */
export const servicesReasons = {
  // Accepted
  Accepted: "The spec can be acted on.",
  NotSupported: "The spec asks for something that this version does not do; the message says what.",
  InvalidSpec: "The spec contradicts itself in a way that only the operator can see.",
  TailnetNotFound: "There is no TailscaleTailnet of the name that the selected objects have.",
  NamespaceNotAllowed: "The TailscaleTailnet does not let objects of this namespace use it.",
  TagsNotPermitted:
    "A tag is not among the tailnet's allowedTags, or the credential may not give it.",
  Conflicted:
    "Another object or operator has the VIP service, or the objects are of two tailnets; the message says which.",
  // EndpointsSelected
  EndpointsSelected: "Objects are selected, and each of them is ready.",
  EndpointsProvisioned: "Nothing matched, and an object was made from the template.",
  NoEndpointsMatch: "No TailscaleEndpoints matches the selector, and there is no template.",
  EndpointsNotReady: "Selected objects are not ready; the message names them.",
  // VIPServiceReady
  VIPServiceCreated: "The VIP service exists and has addresses.",
  VIPServicePending: "The VIP service is about to be made, or has no address yet.",
  VIPServiceFailed: "Tailscale's API refused the VIP service; the message says why.",
  NoPorts: "Neither `spec.vipService.ports` nor a selected object names a port.",
  NoIngressProxies: "No selected object has ingress proxies, which would host the VIP.",
  NotApproved: "The proxies wait to be approved as hosts by an administrator of the tailnet.",
  // Ready
  Ready: "All of the above is well.",
  NoEgressProxies:
    "Another cluster hosts the VIP, and no selected object has the egress proxies to reach it.",
  NoHealthyBackends: "No machine is connected and advertises the VIP.",
  TailnetNotReady: "The TailscaleTailnet is not ready; its own conditions say why.",
  TailnetUnavailable: "Tailscale's API cannot be reached; what runs goes on.",
  Deleting: "The object is being deleted.",
  Pending: "Not looked at yet.",
} as const;

/** The reasons of a TailscaleServices' conditions. */
export const TailscaleServicesReason = namesOf(servicesReasons);
/** A reason of a TailscaleServices' conditions. */
export type TailscaleServicesReason = keyof typeof TailscaleServicesReason;

const refusals = [
  "NotSupported",
  "InvalidSpec",
  "TailnetNotFound",
  "NamespaceNotAllowed",
  "TagsNotPermitted",
  "Conflicted",
] as const;
const selection = ["NoEndpointsMatch", "EndpointsNotReady"] as const;
const vip = [
  "VIPServicePending",
  "VIPServiceFailed",
  "NoPorts",
  "NoIngressProxies",
  "NotApproved",
] as const;
const always = ["Pending", "TailnetNotReady", "TailnetUnavailable", "Deleting"] as const;

/** Each condition type with its meaning and reasons. */
export const servicesConditions = conditionsOf<TailscaleServicesReason>()({
  Accepted: {
    meaning: "The spec can be acted on.",
    reasons: ["Accepted", ...refusals, "Pending"],
  },
  EndpointsSelected: {
    meaning: "The selector picks objects that can be used.",
    reasons: ["EndpointsSelected", "EndpointsProvisioned", ...selection, ...refusals, ...always],
  },
  VIPServiceReady: {
    meaning: "The VIP service exists in the tailnet and has addresses.",
    reasons: ["VIPServiceCreated", ...vip, ...refusals, ...always],
  },
  Ready: {
    meaning: "The summary of all else.",
    reasons: [
      "Ready",
      ...selection,
      ...vip,
      "NoEgressProxies",
      "NoHealthyBackends",
      ...refusals,
      ...always,
    ],
  },
});

/** The condition types of a TailscaleServices. */
export const TailscaleServicesCondition = namesOf(servicesConditions);
