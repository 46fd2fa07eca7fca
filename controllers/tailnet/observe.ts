/**
 * What the TailscaleTailnet controller looks at.
 *
 * @module
 */
import { objectKey } from "../../core/object.ts";
import type { Secret } from "../../api/core_objects.ts";
import { SECRET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import { Index } from "../indexes.ts";
import { nodeIdsOf, organizationIn } from "../proxies/replica.ts";
import type { Failure, TailnetState, World } from "../world.ts";

/** The observation. */
export interface TailnetObserved {
  readonly tailnet: TailscaleTailnet;
  /** `namespace/name` of the credential. */
  readonly secretKey: string;
  readonly secret?: Secret;
  readonly state?: TailnetState;
  readonly failure?: Failure;
  /** How many objects name this tailnet. */
  readonly usedBy: number;
  /** Node ids of all replicas that objects of this tailnet have. */
  readonly replicaIds: readonly string[];
  /** True while a replica that has logged in is not seen connected. */
  readonly waiting: boolean;
  /** The organisation, where the spec or a proxy's state tells it. */
  readonly organization?: string;
}

/** The controller's name. */
export const NAME = "tailnet";

/** The Secret that holds a tailnet's credential, as `namespace/name`. */
export function credentialKey(tailnet: TailscaleTailnet, operatorNamespace: string): string {
  const { oauthSecretName, oauthSecretNamespace } = tailnet.spec;
  return objectKey(oauthSecretNamespace ?? operatorNamespace, oauthSecretName);
}

/** The object is gone, and with it the right to use the API that is still open. */
export interface TailnetGone {
  readonly gone: string;
}

/** Gathers what the plan decides on. */
export function observeTailnet(
  world: World,
  key: string,
): TailnetObserved | TailnetGone | undefined {
  const tailnet = world.objects.get<TailscaleTailnet>(TailscaleTailnet.resource, key);
  if (!tailnet) return world.tailnets.has(key) ? { gone: key } : undefined;
  const secretKey = credentialKey(tailnet, world.settings.namespace);
  if (!world.knowsSecret(secretKey)) return undefined;
  const secret = world.objects.get<Secret>(SECRET, secretKey);
  const state = world.tailnets.get(key);
  const failure = world.failure(NAME, key);
  const users = world.objects.byIndex<TailscaleEndpoints>(
    TailscaleEndpoints.resource,
    Index.tailnet,
    key,
  );
  const states = world.objects.byIndex<Secret>(SECRET, Index.tailnet, key);
  const replicaIds = states.flatMap((state) => nodeIdsOf(state).slice(0, 1)).sort();
  const organization = organizationOf(tailnet, states);
  return {
    tailnet,
    secretKey,
    ...(secret ? { secret } : {}),
    ...(state ? { state } : {}),
    ...(failure ? { failure } : {}),
    usedBy: users.length,
    replicaIds,
    waiting: isWaiting(replicaIds, state),
    ...(organization ? { organization } : {}),
  };
}

/** No API of Tailscale's tells the name of the credential's own organisation; its nodes know it. */
function organizationOf(
  { spec }: TailscaleTailnet,
  states: readonly Secret[],
): string | undefined {
  if (spec.tailnet && spec.tailnet !== "-") return spec.tailnet;
  // Alike in all of them but for a moment of a renaming: the first by name, so that it is one.
  const told = states.toSorted((a, b) => a.metadata.name < b.metadata.name ? -1 : 1)
    .map(organizationIn);
  return told.find((name) => name !== undefined);
}

function isWaiting(ids: readonly string[], state: TailnetState | undefined): boolean {
  const connected = new Set(
    state?.devices.filter((device) => device.connectedToControl).map((device) => device.nodeId),
  );
  return ids.some((id) => !connected.has(id));
}
