/**
 * What the status of a TailscaleEndpoints says. Conditions are output: nothing
 * decides on them.
 *
 * @module
 */
import { conditionsFrom } from "../../core/conditions.ts";
import { deviceByAddress, type TailnetDevice } from "../../core/device.ts";
import { Label } from "../../core/labels.ts";
import type { Service } from "../../api/core_objects.ts";
import { SERVICE } from "../../api/resources.ts";
import type {
  DeviceStatus,
  EndpointStatus,
  StatefulSetRef,
  TailscaleEndpointsStatus,
} from "../../api/tailscale_endpoints.ts";
import { preferredAddress, resolveEntries } from "../../backends/endpoints.ts";
import { serviceName } from "../proxies/proxy_set.ts";
import type { Failure } from "../world.ts";
import { isReady, type Machine, machinesOf } from "./machines.ts";
import { lostDevices } from "./lost.ts";
import { type EndpointsObserved, liveKey } from "./observe.ts";
import { verdictsOf } from "./verdicts.ts";

/** The status, with `failure` as the reason why the object as a whole is not accepted or ready. */
export function statusOf(
  o: EndpointsObserved,
  failure: Failure | undefined,
  now: number,
): TailscaleEndpointsStatus {
  const machines = machinesOf(o);
  const devices = machines.map((machine) => deviceStatus(o, machine));
  return {
    statefulSetRefs: statefulSetRefs(o),
    // A lost one is told for as long as it is there: nothing else knows of it.
    devices: [...devices, ...lostDevices(o)],
    endpointStatus: [
      ...machines.map((machine) => machineStatus(o, machine)),
      ...manualStatus(o),
    ],
    totalEndpoints: o.set?.replicas ?? 0,
    healthyEndpoints: devices.filter(({ connected }) => connected).length,
    conditions: conditionsFrom(
      verdictsOf(o, failure, machines),
      o.endpoints.status?.conditions,
      { now, generation: o.endpoints.metadata.generation },
    ),
  };
}

function deviceStatus(o: EndpointsObserved, machine: Machine): DeviceStatus {
  const { pod, hostname, podObject, nodeId, device } = machine;
  const podIP = podObject?.status?.podIP;
  const told = device ? deviceFacts(device) : toldOf(o, machine);
  const connected = told?.connected ?? false;
  return {
    hostname,
    ...told,
    statefulSetPod: pod,
    ...(nodeId ? { nodeID: nodeId } : {}),
    ...(podIP ? { podIP } : {}),
    connected,
    online: connected && isReady(podObject),
  };
}

type DeviceFacts = Omit<DeviceStatus, "statefulSetPod" | "nodeID" | "podIP" | "online">;

/** What was told of the device before, while the tailnet's devices are not known. */
function toldOf({ endpoints, view }: EndpointsObserved, machine: Machine): DeviceFacts | undefined {
  if (view.devices || !machine.nodeId) return undefined;
  const before = endpoints.status?.devices?.find(({ nodeID }) => nodeID === machine.nodeId);
  if (!before) return undefined;
  const { podIP: _ip, ...facts } = before;
  return facts;
}

function deviceFacts(device: TailnetDevice): DeviceFacts {
  const { name, addresses, tags, lastSeen, connectedToControl } = device;
  const first = preferredAddress(device);
  return {
    hostname: name.split(".")[0] ?? name,
    tailscaleFQDN: name,
    ...(first ? { tailscaleIP: first, tailscaleIPs: [...addresses] } : {}),
    tags: [...tags],
    connected: connectedToControl,
    ...(lastSeen ? { lastSeen } : {}),
  };
}

function machineStatus(o: EndpointsObserved, machine: Machine): EndpointStatus {
  const { tailscaleIP } = deviceStatus(o, machine);
  const { healthStatus, message } = machineHealth(o, machine);
  return {
    name: machine.pod,
    ...(tailscaleIP ? { tailscaleIP } : {}),
    healthStatus,
    source: "Proxy",
    ...(message ? { message } : {}),
  };
}

function machineHealth(
  { view }: EndpointsObserved,
  { nodeId, device }: Machine,
): Pick<EndpointStatus, "healthStatus" | "message"> {
  const unhealthy = (message: string) => ({ healthStatus: "Unhealthy" as const, message });
  if (device?.connectedToControl) return { healthStatus: "Healthy" };
  if (device) return unhealthy("not connected to the tailnet");
  if (!nodeId) return unhealthy("has not logged in to the tailnet");
  if (view.devices) return unhealthy("not in the tailnet's list of devices");
  return { healthStatus: "Unknown", message: "the tailnet's devices are not known" };
}

/** The entries of the spec. Whether they answer is Envoy's to check; here is what the tailnet says. */
function manualStatus({ view }: EndpointsObserved): EndpointStatus[] {
  return resolveEntries(view).map((resolution) => {
    const { name, port, tailscaleFQDN } = resolution.entry;
    const found = tailscaleFQDN ? { tailscaleFQDN } : {};
    const base = { name, port, ...found, source: "Manual" as const };
    if ("problem" in resolution) {
      return { ...base, healthStatus: "Unhealthy", message: resolution.problem.message };
    }
    const tailscaleIP = resolution.address;
    const device = view.devices && deviceByAddress(view.devices, tailscaleIP);
    if (!device) {
      const message = view.devices && "no device of the tailnet has this address";
      return { ...base, tailscaleIP, healthStatus: "Unknown", ...(message ? { message } : {}) };
    }
    if (device.connectedToControl) return { ...base, tailscaleIP, healthStatus: "Healthy" };
    const message = `device ${device.name} is not connected to the tailnet`;
    return { ...base, tailscaleIP, healthStatus: "Unhealthy", message };
  });
}

function statefulSetRefs({ statefulSets, live }: EndpointsObserved): StatefulSetRef[] {
  return statefulSets.map(({ metadata, spec, status }) => {
    const { name, namespace = "", labels, creationTimestamp } = metadata;
    const service = serviceName(name);
    const clusterIP = (live.get(liveKey(SERVICE, service)) as Service | undefined)?.spec
      ?.clusterIP;
    return {
      name,
      namespace,
      connectionType: labels?.[Label.component] === "ingress" ? "ingress" : "egress",
      desiredReplicas: spec.replicas ?? 1,
      readyReplicas: status?.readyReplicas ?? 0,
      service,
      serviceFQDN: `${service}.${namespace}.svc.cluster.local`,
      ...(clusterIP ? { clusterIP } : {}),
      ...(creationTimestamp ? { createdAt: creationTimestamp } : {}),
    };
  });
}
