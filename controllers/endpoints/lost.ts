/**
 * Devices whose replica lost its state: somebody deleted its Secret, or the
 * namespace went and took the Secrets first. The status is where their ids are
 * still to be found.
 *
 * @module
 */
import type { DeviceStatus } from "../../api/tailscale_endpoints.ts";
import type { Action } from "../controller.ts";
import { hostnameOf, replicaIndexOf, statefulSetName } from "../proxies/proxy_set.ts";
import type { EndpointsObserved } from "./observe.ts";

/**
 * Devices that the status told of, that no replica has, and that the tailnet still
 * lists under a name of the replica.
 */
export function lostDevices(o: EndpointsObserved): DeviceStatus[] {
  const had = new Set(o.replicas.flatMap(({ nodeIds }) => nodeIds));
  return (o.endpoints.status?.devices ?? []).filter(({ nodeID, statefulSetPod }) => {
    const names = hostnamesOf(o, statefulSetPod);
    if (nodeID === undefined || had.has(nodeID) || names.length === 0) return false;
    // While the list is not known, each of them may still be there.
    if (!o.view.devices) return true;
    const device = o.view.devices.find(({ nodeId }) => nodeId === nodeID);
    return device !== undefined && names.includes(device.hostname);
  });
}

/** The names that a replica of the object asks for; none where the pod's name is no replica's. */
function hostnamesOf({ endpoints, set }: EndpointsObserved, pod: string): string[] {
  const index = replicaIndexOf(statefulSetName(endpoints.metadata.name, "egress"), pod);
  if (index === undefined) return [];
  return [...new Set([pod, ...(set ? [hostnameOf(set, index)] : [])])];
}

/** Removes lost devices. */
export function removeDevices(o: EndpointsObserved, devices: readonly DeviceStatus[]): Action[] {
  return devices.flatMap(({ nodeID, statefulSetPod }) =>
    nodeID ? [deviceAction(o, { name: statefulSetPod, nodeId: nodeID })] : []
  );
}

/** Removes a device of the replica of that name. */
export function deviceAction(
  o: EndpointsObserved,
  { name, nodeId }: { name: string; nodeId: string },
): Action {
  const { tailnet } = o.endpoints.spec;
  const hostnames = hostnamesOf(o, name);
  return { do: "deleteDevice", tailnet, nodeId, hostnames, owner: o.endpoints };
}

/** Removes lost devices whose replica has logged in anew: nobody is that device any more. */
export function replacedActions(o: EndpointsObserved): Action[] {
  const loggedIn = new Set(
    o.replicas.filter(({ nodeIds }) => nodeIds.length > 0).map(({ name }) => name),
  );
  const replaced = lostDevices(o).filter(({ statefulSetPod }) => loggedIn.has(statefulSetPod));
  return removeDevices(o, replaced);
}
