/**
 * TailscaleTailnet: a tailnet that objects of the cluster may use, and the
 * credential for its API.
 *
 * @module
 */

import { z } from "zod";
import {
  conditions,
  count,
  labelSelector,
  namespaceName,
  objectName,
  tags,
  text,
} from "./fields.ts";
import {
  AGE_COLUMN,
  conditionColumn,
  conditionsOf,
  defineKind,
  type KindOf,
  namesOf,
} from "./kind.ts";
import { withRules } from "./rules.ts";

const reasons = {
  Authenticated: "Tailscale accepted the credential, and it has every scope that is needed.",
  Ready: "The tailnet can be used.",
  NotSupported: "The spec asks for something that this version does not do; the message says what.",
  SecretNotFound: "There is no Secret of that name in that namespace.",
  SecretInvalid: "The Secret lacks `client_id`, or `client_secret` and `audience` both.",
  CredentialsInvalid: "Tailscale refused the credential: it is wrong, expired or revoked.",
  IdentityTokenFailed:
    "The operator got no token of its own account for the `audience` in the Secret; the message says why.",
  ScopeMissing: "The credential lacks scopes; the message and `status.credential` name them all.",
  TagsNotPermitted: "The credential may not give `spec.tags`: the policy's tagOwners forbid it.",
  TailnetNotFound: "The credential sees no tailnet of the name in `spec.tailnet`.",
  Unavailable: "Tailscale's API did not answer, or answered with an error of its own; tried again.",
  RateLimited: "Tailscale's API asks to wait; tried again when it allows.",
  SuffixUnknown: "No device of the tailnet tells its DNS suffix yet; names in it are not known.",
  InUse: "The object is being deleted, and waits until nothing names it any more.",
  Deleting: "The object is being deleted.",
  Pending: "Not looked at yet.",
} as const;

/** The reasons of a TailscaleTailnet's conditions. */
export const TailscaleTailnetReason = namesOf(reasons);
/** A reason of a TailscaleTailnet's conditions. */
export type TailscaleTailnetReason = keyof typeof TailscaleTailnetReason;

const conditionDocs = conditionsOf<TailscaleTailnetReason>()({
  Authenticated: {
    meaning: "The credential works and has the scopes that are needed.",
    reasons: [
      "Authenticated",
      "Pending",
      "NotSupported",
      "SecretNotFound",
      "SecretInvalid",
      "CredentialsInvalid",
      "IdentityTokenFailed",
      "ScopeMissing",
      "TagsNotPermitted",
      "TailnetNotFound",
      "Unavailable",
      "RateLimited",
    ],
  },
  Ready: {
    meaning: "Objects can use the tailnet: the summary of all else.",
    reasons: [
      "Ready",
      "Pending",
      "NotSupported",
      "SecretNotFound",
      "SecretInvalid",
      "CredentialsInvalid",
      "IdentityTokenFailed",
      "ScopeMissing",
      "TagsNotPermitted",
      "TailnetNotFound",
      "Unavailable",
      "RateLimited",
      "SuffixUnknown",
      "InUse",
      "Deleting",
    ],
  },
});

/** The condition types of a TailscaleTailnet. */
export const TailscaleTailnetCondition = namesOf(conditionDocs);

const HTTP_URL = "^https?://[^/?#@ ]+(/[^?#@ ]*)?$";

/** An absolute http or https URL without credentials, query or fragment. */
function httpURL() {
  return withRules(text(), {
    rule: `self.matches('${HTTP_URL}') && isURL(self)`,
    message: "must be an http or https URL without credentials, query or fragment",
    holds: (value) => new RegExp(HTTP_URL).test(value) && URL.canParse(value),
  });
}

function allowedNamespaces() {
  const allowed = z.object({
    from: z.enum(["All", "Selector"]).default("All").describe(
      "`All`: objects of every namespace may use the tailnet. `Selector`: those of namespaces that `selector` picks.",
    ),
    selector: labelSelector().exactOptional().describe(
      "Labels of the namespaces whose objects may use the tailnet; an empty selector picks every namespace. Only with `from: Selector`.",
    ),
  });
  return withRules(allowed, {
    rule: "self.from != 'Selector' || has(self.selector)",
    message: "from: Selector needs selector",
    holds: ({ from, selector }) => from !== "Selector" || selector !== undefined,
  }, {
    rule: "self.from == 'Selector' || !has(self.selector)",
    message: "selector is only for from: Selector",
    holds: ({ from, selector }) => from === "Selector" || selector === undefined,
  });
}

const spec = z.object({
  tailnet: text().default("-").describe(
    "The organisation as Tailscale's API names it, such as `example.com`; `-` is the tailnet that the credential belongs to.",
  ),
  oauthSecretName: objectName().describe(
    "The Secret with the credential: keys `client_id` and `client_secret`, or `client_id` and `audience` (workload identity federation).",
  ),
  oauthSecretNamespace: namespaceName().exactOptional().describe(
    "The namespace of that Secret. By default the operator's own.",
  ),
  tags: tags().exactOptional().describe(
    "Tags that every auth key made for this tailnet carries beside an object's own, such as `tag:k8s`. The credential must be allowed to give them.",
  ),
  allowedNamespaces: allowedNamespaces().default({ from: "All" }).describe(
    "Which namespaces' objects may use this tailnet. When a namespace may no more, what runs goes on, and nothing is made or changed for it.",
  ),
  allowedTags: tags().exactOptional().describe(
    "The only tags that objects may ask for; the tailnet's own `tags` need not be among them. By default, and when empty, any.",
  ),
  apiURL: httpURL().default("https://api.tailscale.com").describe(
    "Where Tailscale's HTTP API is: the URL before `/api/v2`.",
  ),
  loginURL: httpURL().default("https://controlplane.tailscale.com").describe(
    "The control server that the proxies log in to.",
  ),
});

const tailnetInfo = z.object({
  name: text().exactOptional().describe("The tailnet's DNS domain, such as `tail8eff9.ts.net`."),
  magicDNSSuffix: text().exactOptional().describe(
    "The suffix of the devices' DNS names, such as `tail8eff9.ts.net`.",
  ),
  organization: text().exactOptional().describe("The organisation, such as `example.com`."),
  tailnetID: text().exactOptional().describe("Tailscale's id of the tailnet."),
});

const credential = z.object({
  clientID: text().exactOptional().describe("The OAuth client's id; no secret."),
  secretResourceVersion: text().exactOptional().describe(
    "The resource version of the Secret that was last tried.",
  ),
  scopes: scopeList().exactOptional().describe("The scopes that the credential has."),
  missingScopes: scopeList().exactOptional().describe(
    "The scopes that are needed and that the credential lacks.",
  ),
});

function scopeList() {
  return z.array(text().describe("A scope, such as `devices:core`.")).max(64)
    .meta({ "x-kubernetes-list-type": "atomic" });
}

const status = z.object({
  tailnetInfo: tailnetInfo.exactOptional().describe(
    "What is known of the tailnet; a field that no source tells is absent.",
  ),
  deviceCount: count().exactOptional().describe("The devices of the tailnet."),
  connectedDevices: count().exactOptional().describe(
    "The devices that are connected to the control server.",
  ),
  credential: credential.exactOptional().describe("The credential that was last tried."),
  usedBy: count().exactOptional().describe(
    "The objects that name this tailnet. It can be deleted when there are none.",
  ),
  conditions: conditions(),
});

/** The kind TailscaleTailnet. */
export const TailscaleTailnet = defineKind({
  kind: "TailscaleTailnet",
  plural: "tailscaletailnets",
  scope: "Cluster",
  shortNames: ["tstn"],
  categories: ["tailscale"],
  description: "A tailnet that objects of this cluster may use, and the credential for its API.",
  spec,
  status,
  columns: [
    conditionColumn("Ready", { condition: "Ready", field: "status" }),
    conditionColumn("Reason", { condition: "Ready", field: "reason" }),
    {
      name: "Tailnet",
      type: "string",
      jsonPath: ".status.tailnetInfo.name",
      description: "The tailnet's DNS domain.",
    },
    {
      name: "Devices",
      type: "integer",
      jsonPath: ".status.deviceCount",
      description: "The devices of the tailnet.",
    },
    AGE_COLUMN,
    conditionColumn("Message", { condition: "Ready", field: "message", wide: true }),
  ],
  conditions: conditionDocs,
  reasons,
  example: {
    oauthSecretName: "tailscale-oauth",
    oauthSecretNamespace: "tailscale",
    tags: ["tag:k8s"],
    allowedNamespaces: {
      from: "Selector",
      selector: { matchLabels: { "kubernetes.io/metadata.name": "apps" } },
    },
  },
});
/** A TailscaleTailnet as the API server stores it. */
export type TailscaleTailnet = KindOf<typeof TailscaleTailnet>;
/** Its spec. */
export type TailscaleTailnetSpec = TailscaleTailnet["spec"];
/** Its status. */
export type TailscaleTailnetStatus = z.output<typeof status>;

/** A spec in which every field has its value. */
export type ResolvedTailnetSpec = Required<TailscaleTailnetSpec>;

/**
 * The spec with the defaults that the API server does not fill in:
 * `oauthSecretNamespace` (the operator's namespace) and empty lists.
 */
export function resolveTailnetSpec(
  spec: TailscaleTailnetSpec,
  operatorNamespace: string,
): ResolvedTailnetSpec {
  return {
    ...spec,
    oauthSecretNamespace: spec.oauthSecretNamespace ?? operatorNamespace,
    tags: spec.tags ?? [],
    allowedTags: spec.allowedTags ?? [],
  };
}
