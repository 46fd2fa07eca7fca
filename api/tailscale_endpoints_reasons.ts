/**
 * The conditions of a TailscaleEndpoints, and their closed list of reasons.
 *
 * @module
 */

import { conditionsOf, namesOf } from "./kind.ts";

/** Each reason with a sentence, for the reference page. */
export const endpointsReasons = {
  // Accepted
  Accepted: "The spec can be acted on.",
  NotSupported: "The spec asks for something that this version does not do; the message says what.",
  InvalidSpec: "The spec contradicts itself in a way that only the operator can see.",
  InvalidEndpoint: "An endpoint names a host that cannot be used; the message says which and why.",
  TailnetNotFound: "There is no TailscaleTailnet of the name in `spec.tailnet`.",
  NamespaceNotAllowed: "The TailscaleTailnet does not let objects of this namespace use it.",
  TagsNotPermitted:
    "A tag is not among the tailnet's allowedTags, or the credential may not give it.",
  ProxyGroupNotFound: "There is no TailscaleProxyGroup of the name in `spec.proxyGroup`.",
  Conflicted: "An object of a name that is needed belongs to someone else; it is left alone.",
  // ResolvedRefs
  ResolvedRefs: "Everything that the object refers to is there and may be used.",
  RefNotPermitted: "A reference into another namespace needs a ReferenceGrant there.",
  RefNotFound: "A Service, Secret or ConfigMap that the object refers to is not there.",
  RefInvalid: "A Secret or ConfigMap that the object refers to lacks what is needed from it.",
  HostNotFound: "No device or VIP service of the tailnet has the name in `tailscaleFQDN`.",
  AddressNotRouted:
    "The address in `tailscaleIP` is in none of the ranges that the tailnet reaches.",
  HooksNotCalled:
    "A route names the object, and Envoy Gateway never called the hooks: its configuration lacks the extension server.",
  NoReadyProxies: "No egress proxy is ready, so that routes to the object have no backend.",
  PortUnserved:
    "An ingress port has neither a backendRef nor an endpoint to serve, or a route names a port that no endpoint has.",
  MixedSettings: "Endpoints that one backendRef picks differ in protocol or healthCheck.",
  // StatefulSetsReady
  AllReplicasReady: "Every replica of every StatefulSet is ready.",
  ReplicasNotReady: "Some replicas are not ready; the message says which and why.",
  NoReplicas: "`replicas` is 0: no proxies are wanted.",
  StatefulSetsPending: "The StatefulSets are about to be made.",
  // DevicesReady
  AllDevicesConnected: "The device of every replica is known and connected.",
  DevicesNotConnected: "The device of some replica is not known, or not connected.",
  DevicesNotAuthorized: "A device waits to be approved by an administrator of the tailnet.",
  NameConflict: "Another device has the name, so that Tailscale gave this one a suffix.",
  AuthKeyFailed: "No auth key could be made for a replica; the message says why.",
  // Synced
  DiscoverySuccessful: "The tailnet was looked at for hosts.",
  DiscoveryDisabled: "`autoDiscovery` is not enabled.",
  DiscoveryFailed: "The tailnet could not be looked at; what was found before is kept.",
  // Ready
  Ready: "All of the above is well.",
  TailnetNotReady: "The TailscaleTailnet is not ready; its own conditions say why.",
  TailnetUnavailable: "Tailscale's API cannot be reached; what runs goes on.",
  ProxyPortUnprotected:
    "All works, but the egress proxies' CONNECT port answers those whom its NetworkPolicy does not admit: the cluster does not enforce policies.",
  Deleting: "The object is being deleted.",
  Pending: "Not looked at yet.",
} as const;

/** The reasons of a TailscaleEndpoints' conditions. */
export const TailscaleEndpointsReason = namesOf(endpointsReasons);
/** A reason of a TailscaleEndpoints' conditions. */
export type TailscaleEndpointsReason = keyof typeof TailscaleEndpointsReason;

const accepted = [
  "NotSupported",
  "InvalidSpec",
  "InvalidEndpoint",
  "TailnetNotFound",
  "NamespaceNotAllowed",
  "TagsNotPermitted",
  "ProxyGroupNotFound",
  "Conflicted",
] as const;
const refs = [
  "RefNotPermitted",
  "RefNotFound",
  "RefInvalid",
  "HostNotFound",
  "AddressNotRouted",
  "HooksNotCalled",
  "NoReadyProxies",
  "PortUnserved",
  "MixedSettings",
] as const;
const statefulSets = ["ReplicasNotReady", "StatefulSetsPending"] as const;
const devices = [
  "DevicesNotConnected",
  "DevicesNotAuthorized",
  "NameConflict",
  "AuthKeyFailed",
] as const;
const always = ["Pending", "TailnetNotReady", "TailnetUnavailable", "Deleting"] as const;

/** Each condition type with its meaning and reasons. */
export const endpointsConditions = conditionsOf<TailscaleEndpointsReason>()({
  Accepted: {
    meaning: "The spec can be acted on.",
    reasons: ["Accepted", ...accepted, "Pending"],
  },
  ResolvedRefs: {
    meaning: "What the object refers to is there, and routes to the object have backends.",
    reasons: ["ResolvedRefs", "NotSupported", ...refs, ...always],
  },
  StatefulSetsReady: {
    meaning: "The proxies run.",
    reasons: ["AllReplicasReady", "NoReplicas", ...statefulSets, ...accepted, ...always],
  },
  DevicesReady: {
    meaning: "The proxies are in the tailnet.",
    reasons: ["AllDevicesConnected", "NoReplicas", ...devices, ...accepted, ...always],
  },
  Synced: {
    meaning: "Hosts of the tailnet were discovered, where that is asked for.",
    reasons: [
      "DiscoverySuccessful",
      "DiscoveryDisabled",
      "DiscoveryFailed",
      ...accepted,
      ...always,
    ],
  },
  Ready: {
    meaning: "The summary of all else.",
    reasons: [
      "Ready",
      "ProxyPortUnprotected",
      ...accepted,
      ...refs,
      ...statefulSets,
      ...devices,
      "DiscoveryFailed",
      ...always,
    ],
  },
});

/** The condition types of a TailscaleEndpoints. */
export const TailscaleEndpointsCondition = namesOf(endpointsConditions);
/** A condition type of a TailscaleEndpoints. */
export type TailscaleEndpointsCondition = keyof typeof TailscaleEndpointsCondition;
