/**
 * The end of a TailscaleEndpoints: proxies first, then their devices and keys,
 * then what they were told, then what is around them, then the object.
 *
 * @module
 */
import { STATEFUL_SET } from "../../api/resources.ts";
import {
  TailscaleEndpoints,
  TailscaleEndpointsReason as Reason,
} from "../../api/tailscale_endpoints.ts";
import type { Action, Plan } from "../controller.ts";
import { finalizerAction } from "../finalizer.ts";
import type { EndpointsObserved } from "./observe.ts";
import { removeReplica } from "./replicas.ts";
import { statusOf } from "./status.ts";

/** How long devices may wait for a tailnet that does not answer before the object goes without it. */
export const ORPHAN_AFTER_MS = 5 * 60_000;

/** Decides for an object that is being deleted and still has our finalizer. */
export function planDeletion(o: EndpointsObserved, now: number): Plan {
  const stopping = stopProxies(o);
  if (stopping) return { ...stopping, status: waiting(o, now, "its proxies stop") };
  const left = o.replicas.filter((replica) => replica.stateSecret || replica.configSecret);
  if (left.length === 0 && o.others.length > 0) {
    return { actions: deleteOthers(o), status: waiting(o, now, "what was made for it is gone") };
  }
  if (left.length === 0) {
    return { actions: [finalizerAction(TailscaleEndpoints.resource, o.endpoints, false)] };
  }
  const open = o.state?.check !== undefined && "scopes" in o.state.check;
  if (open || !left.some((replica) => replica.nodeId)) {
    const tailnet = open ? o.endpoints.spec.tailnet : undefined;
    return {
      actions: left.flatMap((replica) => removeReplica(replica, tailnet)),
      status: waiting(o, now, "its devices are removed"),
    };
  }
  return planWithoutTailnet(o, now);
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

/** Not left to the garbage collector, which may take its time. */
function deleteOthers({ others }: EndpointsObserved): Action[] {
  return others.filter(({ object }) => !object.metadata.deletionTimestamp)
    .map(({ type, object }) => ({ do: "delete", type, object }));
}

/** The tailnet, or its credential, is gone: wait for it a while, then say what is left behind. */
function planWithoutTailnet(o: EndpointsObserved, now: number): Plan {
  const since = Date.parse(o.endpoints.metadata.deletionTimestamp ?? "");
  const giveUpAt = since + ORPHAN_AFTER_MS;
  if (now < giveUpAt) {
    return {
      actions: [],
      status: waiting(o, now, `TailscaleTailnet ${o.endpoints.spec.tailnet} can be used again`),
      wakeAt: giveUpAt,
    };
  }
  const orphans = o.replicas.flatMap(({ name, nodeId }) => nodeId ? [`${name} (${nodeId})`] : []);
  const event: Action = {
    do: "event",
    regarding: o.endpoints,
    type: "Warning",
    reason: "DevicesOrphaned",
    note: `TailscaleTailnet ${o.endpoints.spec.tailnet} could not be used for 5 minutes; ` +
      `remove these devices in Tailscale's admin console: ${orphans.join(", ")}`,
  };
  return {
    actions: [event, ...o.replicas.flatMap((replica) => removeReplica(replica, undefined))],
  };
}

function waiting(o: EndpointsObserved, now: number, until: string): Plan["status"] {
  const failure = o.failure ?? {
    reason: Reason.Deleting,
    message: `The object is being deleted: it waits until ${until}.`,
  };
  return statusOf(o, failure, now);
}
