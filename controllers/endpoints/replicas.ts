/**
 * Each replica's configuration and key, and the end of replicas that are not
 * wanted any more.
 *
 * @module
 */
import { needsApply } from "../../kube/apply.ts";
import { Annotation } from "../../core/labels.ts";
import { POD, SECRET } from "../../api/resources.ts";
import { type Action, fieldManagerOf } from "../controller.ts";
import { configSecret, type StoredKey } from "../proxies/objects.ts";
import { hostnameOf, type ProxySet, replicaIndices, replicaName } from "../proxies/proxy_set.ts";
import type { PodObject } from "../proxies/live.ts";
import { secretText } from "../proxies/replica.ts";
import {
  authKeyIn,
  CONFIG_KEY,
  configHash,
  tailscaledConfig,
} from "../proxies/tailscaled_config.ts";
import { type EndpointsObserved, NAME, type ReplicaObserved } from "./observe.ts";

const MANAGER = fieldManagerOf({ name: NAME });

/** What is to be done for the replicas' configuration, and whether all of them then have one. */
export interface ConfigActions {
  readonly actions: readonly Action[];
  readonly complete: boolean;
}

/** Renders every wanted replica's configuration; mints keys where a replica has never logged in. */
export function configActions(o: EndpointsObserved, set: ProxySet, now: number): ConfigActions {
  const byName = new Map(o.replicas.map((replica) => [replica.name, replica]));
  const parts = replicaIndices(set).map((index) =>
    replicaConfig(o, set, { index, replica: byName.get(replicaName(set.name, index)), now })
  );
  return {
    actions: parts.flatMap((part) => part.actions),
    complete: parts.every((part) => part.complete),
  };
}

function replicaConfig(
  o: EndpointsObserved,
  set: ProxySet,
  { index, replica, now }: { index: number; replica: ReplicaObserved | undefined; now: number },
): ConfigActions {
  const live = replica?.configSecret;
  const render = (key?: StoredKey, secret?: string) =>
    configSecret(set, index, { config: tailscaledConfig(set, index, secret), key });
  const apply = (desired: ReturnType<typeof render>): Action[] =>
    needsApply(live, desired, MANAGER) ? [{ do: "apply", type: SECRET, object: desired }] : [];

  // Logged in: the key has done its work, and an expired one would log the proxy out.
  if (replica?.nodeId) return { actions: apply(render()), complete: true };

  const stored = storedKey(replica);
  if (stored && Date.parse(stored.expires) > now) {
    const secret = authKeyIn(secretText(live, CONFIG_KEY));
    if (secret) return { actions: apply(render(stored, secret)), complete: true };
  }
  if (!isOpen(o)) return { actions: [], complete: live !== undefined };
  return {
    actions: [
      ...(stored ? [revokeAction(set.tailnet, stored.id)] : []),
      {
        do: "mintAuthKey",
        tailnet: set.tailnet,
        tags: set.tags,
        ephemeral: set.ephemeral,
        description: describeKey(set, index),
        type: SECRET,
        store: ({ id, key, expires }) => render({ id, expires }, key.reveal()),
      },
    ],
    complete: true,
  };
}

/** The API takes 50 letters, digits, hyphens and spaces. */
function describeKey(set: ProxySet, index: number): string {
  return `${set.namespace} ${hostnameOf(set, index)}`.replace(/[^A-Za-z0-9 -]/g, "-").slice(-50)
    .trim();
}

function isOpen({ state }: EndpointsObserved): boolean {
  return state?.check !== undefined && "scopes" in state.check;
}

/** The key that waits in a replica's config Secret. */
function storedKey(replica: ReplicaObserved | undefined): StoredKey | undefined {
  const annotations = replica?.configSecret?.metadata.annotations;
  const id = annotations?.[Annotation.authKeyId];
  const expires = annotations?.[Annotation.authKeyExpires];
  return id && expires ? { id, expires } : undefined;
}

function revokeAction(tailnet: string, id: string): Action {
  return { do: "revokeAuthKey", tailnet, id };
}

/**
 * Marks pods whose configuration is another than the one that they were told
 * of: the kubelet then refreshes the volume at once instead of within 90 s.
 */
export function podActions(o: EndpointsObserved, set: ProxySet): Action[] {
  return o.replicas.flatMap(({ pod, index, configSecret: config }): Action[] => {
    if (!pod || !config || pod.metadata.deletionTimestamp || index >= set.replicas) return [];
    const hash = configHash(tailscaledConfig(set, index));
    if (pod.metadata.annotations?.[Annotation.configHash] === hash) return [];
    return [{ do: "apply", type: POD, object: annotated(pod, hash) }];
  });
}

function annotated(pod: PodObject, hash: string): PodObject {
  const { name, namespace, uid } = pod.metadata;
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

/** Replicas beyond what is wanted: once their pod is gone, their device, key and Secrets follow. */
export function retireActions(o: EndpointsObserved, set: ProxySet): Action[] {
  const wanted = new Set(replicaIndices(set).map((index) => replicaName(set.name, index)));
  if (!isOpen(o)) return [];
  return o.replicas
    .filter((replica) => !wanted.has(replica.name) && !replica.pod)
    .flatMap((replica) => removeReplica(replica, set.tailnet));
}

/** What removes a replica for good; without a tailnet only its Secrets go. */
export function removeReplica(replica: ReplicaObserved, tailnet: string | undefined): Action[] {
  const key = storedKey(replica);
  return [
    ...(tailnet && replica.nodeId
      ? [{ do: "deleteDevice" as const, tailnet, nodeId: replica.nodeId }]
      : []),
    ...(tailnet && key ? [revokeAction(tailnet, key.id)] : []),
    ...[replica.stateSecret, replica.configSecret].flatMap((object): Action[] =>
      object && !object.metadata.deletionTimestamp ? [{ do: "delete", type: SECRET, object }] : []
    ),
  ];
}
