/**
 * Objects and states for tests, as short as a sentence.
 *
 * @module
 */
import { encodeBase64 } from "../../core/base64.ts";
import type { TailnetDevice } from "../../core/device.ts";
import { FINALIZER } from "../../core/labels.ts";
import type { ObjectMeta } from "../../core/object.ts";
import type { Secret } from "../../api/core_objects.ts";
import type { Gateway, HTTPRoute, ReferenceGrant } from "../../api/gateway_api.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import type { TailnetState } from "../world.ts";

/** The time at which tests begin. */
export const NOW = Date.parse("2026-03-01T12:00:00Z");

type Meta = Partial<ObjectMeta>;
type EndpointsInput = Parameters<typeof TailscaleEndpoints.create>[1];
type TailnetInput = Parameters<typeof TailscaleTailnet.create>[1];

function metaOf(name: string, meta: Meta): ObjectMeta {
  return { name, uid: `uid-of-${name}`, generation: 1, finalizers: [FINALIZER], ...meta };
}

/** A TailscaleTailnet that the controller has seen before; its credential is {@linkcode credential}. */
export function tailnet(
  name = "corp",
  spec: Partial<TailnetInput> = {},
  meta: Meta = {},
): TailscaleTailnet {
  return TailscaleTailnet.create(metaOf(name, meta), { oauthSecretName: "oauth", ...spec });
}

/** The Secret with the credential of {@linkcode tailnet}. */
export function credential(
  values: Record<string, string> = { client_id: "k1", client_secret: "tskey-client-k1-x" },
): Secret {
  return secret("oauth", values, { namespace: "tailscale", resourceVersion: "7" });
}

/** A Secret with these texts. */
export function secret(name: string, values: Record<string, string>, meta: Meta = {}): Secret {
  const data = Object.entries(values).map(([key, text]) => [key, encodeBase64(text)]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "apps", ...meta },
    data: Object.fromEntries(data),
  };
}

/** A TailscaleEndpoints of namespace `apps` with two egress proxies. */
export function endpoints(
  name = "intranet",
  spec: Partial<EndpointsInput> = {},
  meta: Meta = {},
): TailscaleEndpoints {
  const proxy = spec.proxyGroup ? {} : { proxy: egress(2) };
  return TailscaleEndpoints.create(metaOf(name, { namespace: "apps", ...meta }), {
    tailnet: "corp",
    ...proxy,
    ...spec,
  });
}

/** Egress proxies. */
export function egress(
  replicas: number,
  rest: Partial<NonNullable<EndpointsInput["proxy"]>> = {},
): NonNullable<EndpointsInput["proxy"]> {
  return { connectionType: "egress", replicas, ...rest };
}

/** A connected device of the tailnet `tail1234.ts.net`. */
export function device(name: string, rest: Partial<TailnetDevice> = {}): TailnetDevice {
  return {
    nodeId: `n-${name}`,
    name: `${name}.tail1234.ts.net`,
    hostname: name,
    addresses: ["100.64.0.1", "fd7a:115c:a1e0::1"],
    tags: ["tag:k8s"],
    connectedToControl: true,
    isExternal: false,
    ...rest,
  };
}

/** The state of a tailnet whose credential works and whose devices are known. */
export function usable(
  devices: readonly TailnetDevice[] = [],
  rest: Partial<TailnetState> = {},
): TailnetState {
  return {
    fingerprint: "f",
    clientID: "k1",
    check: { at: NOW, scopes: ["devices:core", "auth_keys", "services"], missing: [] },
    devices,
    fetchedAt: NOW,
    triedAt: NOW,
    soughtIds: new Set(),
    ...rest,
  };
}

/** The state of a tailnet whose credential is refused. */
export function refused(reason = "CredentialsInvalid", since?: number): TailnetState {
  const failure = { reason, message: "Tailscale refused it.", retryAt: NOW + 60_000 };
  return {
    fingerprint: "f",
    clientID: "k1",
    check: { at: NOW, failure, ...(since === undefined ? {} : { since }) },
    devices: [],
    soughtIds: new Set(),
  };
}

/** An HTTPRoute of Gateway `infra/eg` whose one rule has these backendRefs. */
export function route(
  name: string,
  backendRefs: readonly Partial<BackendRef>[],
  meta: Meta = {},
): HTTPRoute {
  const refs = backendRefs.map((ref) => ({
    group: "gateway.tailscale.com",
    kind: "TailscaleEndpoints",
    name: "intranet",
    ...ref,
  }));
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name, namespace: "apps", ...meta },
    spec: {
      parentRefs: [{ name: "eg", namespace: "infra" }],
      rules: [{ backendRefs: refs }],
    },
  };
}

type BackendRef = NonNullable<NonNullable<HTTPRoute["spec"]["rules"]>[number]["backendRefs"]>[
  number
];

/** Lets HTTPRoutes of namespace `from` name the TailscaleEndpoints of `apps`. */
export function grant(from: string, name?: string): ReferenceGrant {
  return {
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    metadata: { name: `from-${from}`, namespace: "apps" },
    spec: {
      from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: from }],
      to: [{
        group: "gateway.tailscale.com",
        kind: "TailscaleEndpoints",
        ...(name ? { name } : {}),
      }],
    },
  };
}

/** Gateway `infra/eg`. */
export function gateway(meta: Meta = {}): Gateway {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "Gateway",
    metadata: { name: "eg", namespace: "infra", uid: "uid-of-eg", ...meta },
    spec: { gatewayClassName: "eg" },
  };
}
