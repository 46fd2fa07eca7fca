/**
 * Each replica's configuration and key, and the end of replicas that are not
 * wanted any more.
 *
 * @module
 */
import { needsApply } from "../../core/apply/needs_apply.ts";
import { Annotation } from "../../core/labels.ts";
import type { KubeObject } from "../../core/object.ts";
import type { Pod } from "../../api/core_objects.ts";
import { POD, SECRET } from "../../api/resources.ts";
import { type Action, fieldManagerOf } from "../controller.ts";
import { configSecret, type StoredKey } from "../proxies/objects.ts";
import { hostnameOf, type ProxySet } from "../proxies/proxy_set.ts";
import { secretText } from "../proxies/replica.ts";
import {
  authKeyIn,
  CONFIG_KEY,
  configHash,
  tailscaledConfig,
} from "../proxies/tailscaled_config.ts";
import { type EndpointsObserved, NAME, type ReplicaObserved } from "./observe.ts";
import { deviceAction } from "./lost.ts";
import { isUsable } from "./tailnet.ts";

const MANAGER = fieldManagerOf({ name: NAME });

/** What is to be done for the replicas' configuration, and whether all of them then have one. */
export interface ConfigActions {
  readonly actions: readonly Action[];
  readonly complete: boolean;
}

/** Renders every wanted replica's configuration; mints keys where a replica has never logged in. */
export function configActions(o: EndpointsObserved, set: ProxySet, now: number): ConfigActions {
  const parts = o.replicas.filter(({ wanted }) => wanted)
    .map((replica) => replicaConfig(o, set, { replica, now }));
  return {
    actions: parts.flatMap((part) => part.actions),
    complete: parts.every((part) => part.complete),
  };
}

function replicaConfig(
  { state }: EndpointsObserved,
  set: ProxySet,
  { replica, now }: { replica: ReplicaObserved; now: number },
): ConfigActions {
  const live = replica.configSecret;
  const render = (key?: LoginKey) =>
    configSecret(set, replica.index, {
      config: tailscaledConfig(set, replica.index, key?.secret),
      key,
    });
  const apply = (key?: LoginKey): ConfigActions => {
    const object = render(key);
    const actions: Action[] = needsApply(live, object, MANAGER)
      ? [{ do: "apply", type: SECRET, object }]
      : [];
    return { actions, complete: true };
  };
  // Logged in: the key has done its work, and an expired one would log the proxy out.
  if (replica.nodeIds.length > 0) return apply();
  const stored = storedKey(replica);
  const secret = authKeyIn(secretText(live, CONFIG_KEY));
  const key = stored && secret ? { ...stored, secret } : undefined;
  if (key && Date.parse(key.expires) > now) return apply(key);
  // What cannot be replaced now is kept with whatever key it has.
  if (!isUsable(state)) return live ? apply(key) : { actions: [], complete: false };
  const revoke = stored ? [revokeAction(set.tailnet, stored.id)] : [];
  return { actions: [...revoke, mintAction(set, replica.index, render)], complete: true };
}

/** An auth key with what it takes to log in. */
type LoginKey = StoredKey & { readonly secret: string };

function mintAction(
  set: ProxySet,
  index: number,
  render: (key: LoginKey) => KubeObject,
): Action {
  return {
    do: "mintAuthKey",
    tailnet: set.tailnet,
    tags: set.tags,
    ephemeral: set.ephemeral,
    description: describeKey(set, index),
    type: SECRET,
    store: ({ id, key, expires }) => render({ id, expires, secret: key.reveal() }),
  };
}

/** The API takes 50 letters, digits, hyphens and spaces. */
function describeKey(set: ProxySet, index: number): string {
  return `${set.namespace} ${hostnameOf(set, index)}`.replace(/[^A-Za-z0-9 -]/g, "-").slice(-50)
    .trim();
}

/** The key that waits in a replica's config Secret. */
export function storedKey({ configSecret }: ReplicaObserved): StoredKey | undefined {
  const annotations = configSecret?.metadata.annotations;
  const id = annotations?.[Annotation.authKeyId];
  const expires = annotations?.[Annotation.authKeyExpires];
  return id && expires ? { id, expires } : undefined;
}

/** When the keys of replicas that have not logged in are to be replaced. */
export function keyExpiries({ replicas }: EndpointsObserved, now: number): number[] {
  return replicas.filter(({ wanted, nodeIds }) => wanted && nodeIds.length === 0)
    .map((replica) => Date.parse(storedKey(replica)?.expires ?? ""))
    .filter((expiry) => expiry > now);
}

function revokeAction(tailnet: string, id: string): Action {
  return { do: "revokeAuthKey", tailnet, id };
}

/**
 * Marks pods whose configuration is another than the one that they were told
 * of: the kubelet then refreshes the volume at once instead of within 90 s.
 */
export function podActions(o: EndpointsObserved, set: ProxySet): Action[] {
  return o.replicas.flatMap(({ pod, index, wanted, configSecret: config }): Action[] => {
    if (!wanted || !pod || !config || pod.metadata.deletionTimestamp) return [];
    const hash = configHash(tailscaledConfig(set, index));
    if (pod.metadata.annotations?.[Annotation.configHash] === hash) return [];
    return [{ do: "apply", type: POD, object: annotated(pod, hash) }];
  });
}

function annotated({ metadata }: Pod, hash: string): KubeObject {
  const { name, namespace, uid } = metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      // With the uid a pod that has just gone is not made again.
      ...(uid ? { uid } : {}),
      annotations: { [Annotation.configHash]: hash },
    },
  };
}

/** Replicas beyond what is wanted: once their pod is gone, their devices, key and Secrets follow. */
export function retireActions(o: EndpointsObserved): Action[] {
  if (!isUsable(o.state)) return [];
  return o.replicas.filter(({ wanted, pod }) => !wanted && !pod)
    .flatMap((replica) => removeReplica(replica, o));
}

/** What removes a replica for good; without `inTailnet` only its Secrets go. */
export function removeReplica(replica: ReplicaObserved, inTailnet?: EndpointsObserved): Action[] {
  const { name, nodeIds, stateSecret, configSecret } = replica;
  const key = storedKey(replica);
  const { tailnet } = inTailnet?.endpoints.spec ?? {};
  return [
    ...(inTailnet ? nodeIds.map((nodeId) => deviceAction(inTailnet, { name, nodeId })) : []),
    ...(tailnet && key ? [revokeAction(tailnet, key.id)] : []),
    ...[stateSecret, configSecret].flatMap((object): Action[] =>
      object && !object.metadata.deletionTimestamp ? [{ do: "delete", type: SECRET, object }] : []
    ),
  ];
}
