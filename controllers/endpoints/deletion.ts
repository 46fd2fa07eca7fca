/**
 * The end of a TailscaleEndpoints: proxies first, then their devices and keys,
 * then what they were told, then what is around them, then the object.
 *
 * @module
 */
import { STATEFUL_SET } from "../../api/resources.ts";
import {
  type DeviceStatus,
  TailscaleEndpoints,
  TailscaleEndpointsReason as Reason,
} from "../../api/tailscale_endpoints.ts";
import { type Action, IDLE, type Plan } from "../controller.ts";
import { finalizerAction } from "../finalizer.ts";
import { lostDevices, removeDevices } from "./lost.ts";
import type { EndpointsObserved, ReplicaObserved } from "./observe.ts";
import { removeReplica, storedKey } from "./replicas.ts";
import { statusOf } from "./status.ts";
import { isUsable } from "./tailnet.ts";

/** How long what is in the tailnet may wait for it, before the object goes without. */
export const ORPHAN_AFTER_MS = 5 * 60_000;

/** Decides for an object that is being deleted and still has our finalizer. */
export function planDeletion(o: EndpointsObserved, now: number): Plan {
  const stopping = stopProxies(o);
  if (stopping) return { ...stopping, status: waiting(o, now, "its proxies stop") };
  const left = o.replicas.filter((replica) => replica.stateSecret || replica.configSecret);
  const lost = lostDevices(o);
  const behind = inTailnet(left, lost);
  if (left.length === 0 && behind.length === 0) return removeRest(o, now);
  if (isUsable(o.state) || behind.length === 0) {
    return {
      actions: [
        ...left.flatMap((replica) => removeReplica(replica, o)),
        ...removeDevices(o, lost),
      ],
      status: waiting(o, now, "its devices are removed"),
    };
  }
  // The tailnet was not tried yet since this process began.
  if (!o.tailnetKnown) return IDLE;
  return planWithoutTailnet(o, { left, behind, now });
}

/** What is left in the tailnet, in words. */
function inTailnet(left: readonly ReplicaObserved[], lost: readonly DeviceStatus[]): string[] {
  return [
    ...left.flatMap((replica) => {
      const key = storedKey(replica);
      return [
        ...replica.nodeIds.map((nodeId) => `device ${replica.name} (${nodeId})`),
        ...(key ? [`auth key ${key.id}`] : []),
      ];
    }),
    ...lost.map(({ statefulSetPod, nodeID }) => `device ${statefulSetPod} (${nodeID})`),
  ];
}

/** Stops what still runs; undefined when nothing does. */
function stopProxies(o: EndpointsObserved): Plan | undefined {
  if (o.statefulSets.length === 0 && o.pods.length === 0) return undefined;
  return {
    actions: o.statefulSets
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map((object) => ({ do: "delete", type: STATEFUL_SET, object, propagation: "Foreground" })),
  };
}

/** What is around the proxies goes last; it is not left to the garbage collector, which may take its time. */
function removeRest(o: EndpointsObserved, now: number): Plan {
  if (o.others.length === 0) return { actions: [drop(o)] };
  return { actions: deleteOthers(o), status: waiting(o, now, "what was made for it is gone") };
}

function deleteOthers({ others }: EndpointsObserved): Action[] {
  return others.filter(({ object }) => !object.metadata.deletionTimestamp)
    .map(({ type, object }) => ({ do: "delete", type, object }));
}

/** Lets the object go. */
function drop({ endpoints }: EndpointsObserved): Action {
  return finalizerAction(TailscaleEndpoints.resource, endpoints, false);
}

/** The tailnet, or its credential, is gone: wait for it a while, then say what is left behind. */
function planWithoutTailnet(
  o: EndpointsObserved,
  { left, behind, now }: {
    left: readonly ReplicaObserved[];
    behind: readonly string[];
    now: number;
  },
): Plan {
  const giveUpAt = Math.max(deletedAt(o), failingSince(o)) + ORPHAN_AFTER_MS;
  const { tailnet } = o.endpoints.spec;
  if (now < giveUpAt) {
    return {
      actions: [],
      status: waiting(o, now, `TailscaleTailnet ${tailnet} can be used again`),
      wakeAt: giveUpAt,
    };
  }
  const event: Action = {
    do: "event",
    regarding: o.endpoints,
    type: "Warning",
    reason: "DevicesOrphaned",
    note: `TailscaleTailnet ${tailnet} could not be used for 5 minutes; remove in Tailscale's ` +
      `admin console: ${behind.join(", ")}`,
  };
  return {
    // All at once, so that it is said once.
    actions: [
      event,
      ...left.flatMap((replica) => removeReplica(replica)),
      ...deleteOthers(o),
      drop(o),
    ],
  };
}

function deletedAt({ endpoints }: EndpointsObserved): number {
  return Date.parse(endpoints.metadata.deletionTimestamp ?? "") || 0;
}

function failingSince({ state }: EndpointsObserved): number {
  const check = state?.check;
  return check && "failure" in check ? check.since ?? 0 : 0;
}

function waiting(o: EndpointsObserved, now: number, until: string): Plan["status"] {
  const failure = o.failure ?? {
    reason: Reason.Deleting,
    message: `The object is being deleted: it waits until ${until}.`,
  };
  return statusOf(o, failure, now);
}
