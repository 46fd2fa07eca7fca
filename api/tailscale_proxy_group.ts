/**
 * TailscaleProxyGroup: a highly available set of proxies that several
 * TailscaleEndpoints of its namespace share.
 *
 * @module
 */

import { z } from "zod";
import { conditions, name1035, tags, text } from "./fields.ts";
import {
  AGE_COLUMN,
  conditionColumn,
  conditionsOf,
  defineKind,
  type KindOf,
  namesOf,
} from "./kind.ts";
import { connectionType, groupProxy, replicas } from "./proxy_fields.ts";
import { immutable } from "./rules.ts";

const reasons = {
  // Accepted
  Accepted: "The spec can be acted on.",
  NotSupported: "The spec asks for something that this version does not do; the message says what.",
  TailnetNotFound: "There is no TailscaleTailnet of the name in `spec.tailnet`.",
  NamespaceNotAllowed: "The TailscaleTailnet does not let objects of this namespace use it.",
  TagsNotPermitted:
    "A tag is not among the tailnet's allowedTags, or the credential may not give it.",
  Conflicted: "An object of a name that is needed belongs to someone else; it is left alone.",
  // Ready
  ProxyGroupReady: "Every replica of every StatefulSet has its device.",
  ProxyGroupCreating: "Some replicas have no device yet; the message says which and why.",
  NoReplicas: "`replicas` is 0: no proxies are wanted.",
  AuthKeyFailed: "No auth key could be made for a replica; the message says why.",
  TailnetNotReady: "The TailscaleTailnet is not ready; its own conditions say why.",
  TailnetUnavailable: "Tailscale's API cannot be reached; what runs goes on.",
  InUse: "The object is being deleted, and waits until no TailscaleEndpoints names it any more.",
  Deleting: "The object is being deleted.",
  Pending: "Not looked at yet.",
} as const;

/** The reasons of a TailscaleProxyGroup's conditions. */
export const TailscaleProxyGroupReason = namesOf(reasons);
/** A reason of a TailscaleProxyGroup's conditions. */
export type TailscaleProxyGroupReason = keyof typeof TailscaleProxyGroupReason;

const refusals = [
  "NotSupported",
  "TailnetNotFound",
  "NamespaceNotAllowed",
  "TagsNotPermitted",
  "Conflicted",
] as const;

const conditionDocs = conditionsOf<TailscaleProxyGroupReason>()({
  Accepted: {
    meaning: "The spec can be acted on.",
    reasons: ["Accepted", ...refusals, "Pending"],
  },
  Ready: {
    meaning: "Every proxy is in the tailnet: the summary of all else.",
    reasons: [
      "ProxyGroupReady",
      "ProxyGroupCreating",
      "NoReplicas",
      "AuthKeyFailed",
      "TailnetNotReady",
      "TailnetUnavailable",
      "InUse",
      "Deleting",
      ...refusals,
      "Pending",
    ],
  },
});

/** The condition types of a TailscaleProxyGroup. */
export const TailscaleProxyGroupCondition = namesOf(conditionDocs);

const spec = z.object({
  tailnet: immutable(name1035(), "tailnet").describe(
    "The TailscaleTailnet that the proxies log in to. Cannot be changed.",
  ),
  type: connectionType().describe(
    "`ingress`: from the tailnet to the cluster. `egress`: from the cluster to the tailnet. `bidirectional`: both.",
  ),
  replicas: replicas().describe(
    "The proxies of each StatefulSet, 0 to 64; `bidirectional` makes two StatefulSets.",
  ),
  tags: tags().exactOptional().describe(
    "Tags of the proxies, such as `tag:k8s-proxy`, beside those of the tailnet.",
  ),
  proxy: groupProxy().exactOptional().describe("How the proxies run. By default in userspace."),
});

const device = z.object({
  hostname: text().describe("The device's name in the tailnet."),
  tailnetIPs: z.array(text(45).describe("An address.")).max(16).exactOptional().describe(
    "Its addresses in the tailnet.",
  ),
}).describe("A device of the tailnet that is one of the proxies.");

const status = z.object({
  devices: z.array(device).max(256).exactOptional().describe(
    "The devices of the tailnet that are the proxies.",
  ),
  conditions: conditions(),
});

/** The kind TailscaleProxyGroup. */
export const TailscaleProxyGroup = defineKind({
  kind: "TailscaleProxyGroup",
  plural: "tailscaleproxygroups",
  scope: "Namespaced",
  shortNames: ["tspg"],
  categories: ["tailscale"],
  description:
    "A highly available set of proxies that several TailscaleEndpoints of the namespace share.",
  spec,
  status,
  columns: [
    conditionColumn("Ready", { condition: "Ready", field: "status" }),
    conditionColumn("Reason", { condition: "Ready", field: "reason" }),
    {
      name: "Tailnet",
      type: "string",
      jsonPath: ".spec.tailnet",
      description: "The TailscaleTailnet that the proxies log in to.",
    },
    {
      name: "Type",
      type: "string",
      jsonPath: ".spec.type",
      description: "The directions in which the proxies serve.",
    },
    {
      name: "Replicas",
      type: "integer",
      jsonPath: ".spec.replicas",
      description: "The proxies of each StatefulSet.",
    },
    AGE_COLUMN,
    conditionColumn("Message", { condition: "Ready", field: "message", wide: true }),
  ],
  conditions: conditionDocs,
  reasons,
  example: {
    tailnet: "corp",
    type: "egress",
    replicas: 3,
    tags: ["tag:k8s-proxy"],
    proxy: {
      topologySpreadConstraints: [{
        maxSkew: 1,
        topologyKey: "topology.kubernetes.io/zone",
        whenUnsatisfiable: "ScheduleAnyway",
      }],
    },
  },
});
/** A TailscaleProxyGroup as the API server stores it. */
export type TailscaleProxyGroup = KindOf<typeof TailscaleProxyGroup>;
/** Its spec. */
export type TailscaleProxyGroupSpec = TailscaleProxyGroup["spec"];
/** Its status. */
export type TailscaleProxyGroupStatus = z.output<typeof status>;
