/**
 * The wanted proxies as machines of the tailnet.
 *
 * @module
 */
import type { TailnetDevice } from "../../core/device.ts";
import type { PodObject } from "../proxies/live.ts";
import { hostnameOf, replicaIndices, replicaName } from "../proxies/proxy_set.ts";
import type { EndpointsObserved } from "./observe.ts";

/** A wanted replica with what is known of it. */
export interface Machine {
  readonly pod: string;
  /** The name that it asks for in the tailnet. */
  readonly hostname: string;
  readonly podObject?: PodObject;
  readonly nodeId?: string;
  readonly device?: TailnetDevice;
}

/** The wanted replicas, in order. */
export function machinesOf({ set, replicas, state }: EndpointsObserved): Machine[] {
  if (!set) return [];
  return replicaIndices(set).map((index) => {
    const pod = replicaName(set.name, index);
    const replica = replicas.find(({ name }) => name === pod);
    const nodeId = replica?.nodeId;
    const device = nodeId && state?.devices.find((device) => device.nodeId === nodeId);
    return {
      pod,
      hostname: hostnameOf(set, index),
      ...(replica?.pod ? { podObject: replica.pod } : {}),
      ...(nodeId ? { nodeId } : {}),
      ...(device ? { device } : {}),
    };
  });
}

/** Is the pod ready? */
export function podReady(pod: PodObject | undefined): boolean {
  return pod?.status?.conditions?.some(({ type, status }) =>
    type === "Ready" && status === "True"
  ) ??
    false;
}
