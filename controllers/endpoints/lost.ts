/**
 * Devices whose replica lost its state: somebody deleted its Secret, or the
 * namespace went and took the Secrets first. The status is where their ids are
 * still to be found.
 *
 * @module
 */
import type { DeviceStatus } from "../../api/tailscale_endpoints.ts";
import type { Action } from "../controller.ts";
import type { EndpointsObserved } from "./observe.ts";

/** Devices that the status told of, that no replica has, and that the tailnet still lists. */
export function lostDevices({ endpoints, replicas, view }: EndpointsObserved): DeviceStatus[] {
  const had = new Set(replicas.flatMap(({ nodeIds }) => nodeIds));
  // While the list is not known, each of them may still be there.
  const listed = view.devices && new Set(view.devices.map(({ nodeId }) => nodeId));
  return (endpoints.status?.devices ?? []).filter(({ nodeID }) =>
    nodeID !== undefined && !had.has(nodeID) && (listed?.has(nodeID) ?? true)
  );
}

/** Removes lost devices. */
export function removeDevices(devices: readonly DeviceStatus[], tailnet: string): Action[] {
  return devices.flatMap(({ nodeID }) =>
    nodeID ? [{ do: "deleteDevice", tailnet, nodeId: nodeID }] : []
  );
}

/** Removes lost devices whose replica has logged in anew: nobody is that device any more. */
export function replacedActions(o: EndpointsObserved): Action[] {
  const loggedIn = new Set(
    o.replicas.filter(({ nodeIds }) => nodeIds.length > 0).map(({ name }) => name),
  );
  const replaced = lostDevices(o).filter(({ statefulSetPod }) => loggedIn.has(statefulSetPod));
  return removeDevices(replaced, o.endpoints.spec.tailnet);
}
