/**
 * The wanted proxies as machines of the tailnet.
 *
 * @module
 */
import type { TailnetDevice } from "../../core/device.ts";
import type { Pod } from "../../api/core_objects.ts";
import { hostnameOf } from "../proxies/proxy_set.ts";
import type { EndpointsObserved } from "./observe.ts";

/** A wanted replica with what is known of it. */
export interface Machine {
  readonly pod: string;
  /** The name that it asks for in the tailnet. */
  readonly hostname: string;
  readonly podObject?: Pod;
  readonly nodeId?: string;
  readonly device?: TailnetDevice;
}

/** The wanted replicas, in order. */
export function machinesOf({ set, replicas, view }: EndpointsObserved): Machine[] {
  if (!set) return [];
  return replicas.filter(({ wanted }) => wanted).map(({ index, name, pod, nodeIds }) => {
    const [nodeId] = nodeIds;
    const device = nodeId && view.devices?.find((device) => device.nodeId === nodeId);
    return {
      pod: name,
      hostname: hostnameOf(set, index),
      ...(pod ? { podObject: pod } : {}),
      ...(nodeId ? { nodeId } : {}),
      ...(device ? { device } : {}),
    };
  });
}

/** Is the pod ready? */
export function isReady(pod: Pod | undefined): boolean {
  return pod?.status?.conditions?.some(({ type, status }) =>
    type === "Ready" && status === "True"
  ) ?? false;
}

/** Why a pod is not ready, in a few words; undefined where it is. */
export function unreadyReason(pod: Pod | undefined): string | undefined {
  if (!pod) return "has no pod";
  if (isReady(pod)) return undefined;
  const waiting = pod.status?.containerStatuses?.map(({ state }) => state?.waiting?.reason)
    .find((reason) => reason);
  const unscheduled = pod.status?.conditions?.find(({ type, status }) =>
    type === "PodScheduled" && status === "False"
  );
  return waiting ?? unscheduled?.message ?? "is not ready";
}
