/**
 * What the status of a TailscaleEndpoints says. Conditions are output: nothing
 * decides on them.
 *
 * @module
 */
import { conditionsFrom } from "../../core/conditions.ts";
import { deviceByAddress, type TailnetDevice } from "../../core/device.ts";
import { SERVICE } from "../../api/resources.ts";
import type {
  DeviceStatus,
  EndpointStatus,
  StatefulSetRef,
  TailscaleEndpointsStatus,
} from "../../api/tailscale_endpoints.ts";
import { resolveEntries } from "../../backends/endpoints.ts";
import type { ServiceObject } from "../proxies/live.ts";
import { serviceName } from "../proxies/proxy_set.ts";
import type { Failure } from "../world.ts";
import { type Machine, machinesOf, podReady } from "./machines.ts";
import { type EndpointsObserved, liveKey } from "./observe.ts";
import { verdictsOf } from "./verdicts.ts";

/** The status, with `failure` as the reason why the object as a whole is not accepted or ready. */
export function statusOf(
  o: EndpointsObserved,
  failure: Failure | undefined,
  now: number,
): TailscaleEndpointsStatus {
  const machines = machinesOf(o);
  const devices = machines.map((machine) => deviceStatus(machine));
  return {
    statefulSetRefs: statefulSetRefs(o),
    devices,
    endpointStatus: [...machines.map(machineStatus), ...manualStatus(o)],
    totalEndpoints: o.set?.replicas ?? 0,
    healthyEndpoints: devices.filter(({ connected }) => connected).length,
    conditions: conditionsFrom(
      verdictsOf(o, failure, machines),
      o.endpoints.status?.conditions,
      { now, generation: o.endpoints.metadata.generation },
    ),
  };
}

function deviceStatus({ pod, hostname, podObject, nodeId, device }: Machine): DeviceStatus {
  const podIP = podObject?.status?.podIP;
  return {
    statefulSetPod: pod,
    ...(nodeId ? { nodeID: nodeId } : {}),
    ...(podIP ? { podIP } : {}),
    connected: device?.connectedToControl ?? false,
    online: (device?.connectedToControl ?? false) && podReady(podObject),
    ...(device ? deviceFacts(device) : { hostname }),
  };
}

function deviceFacts(
  { name, addresses, tags, lastSeen }: TailnetDevice,
): Pick<DeviceStatus, "hostname" | "tailscaleIP" | "tailscaleIPs" | "tailscaleFQDN" | "tags"> {
  const first = addresses.find((address) => !address.includes(":")) ?? addresses[0];
  return {
    hostname: name.split(".")[0] ?? name,
    tailscaleFQDN: name,
    ...(first ? { tailscaleIP: first, tailscaleIPs: [...addresses] } : {}),
    tags: [...tags],
    ...(lastSeen ? { lastSeen } : {}),
  };
}

function machineStatus({ pod, nodeId, device }: Machine): EndpointStatus {
  const { tailscaleIP } = device ? deviceFacts(device) : {};
  const message = device
    ? device.connectedToControl ? undefined : "not connected to the tailnet"
    : nodeId
    ? "not in the tailnet's list of devices"
    : "has not logged in to the tailnet";
  return {
    name: pod,
    ...(tailscaleIP ? { tailscaleIP } : {}),
    healthStatus: message ? "Unhealthy" : "Healthy",
    source: "Proxy",
    ...(message ? { message } : {}),
  };
}

/** The entries of the spec. Whether they answer is Envoy's to check; here is what the tailnet says. */
function manualStatus({ endpoints, state }: EndpointsObserved): EndpointStatus[] {
  const devices = state?.fetchedAt === undefined ? undefined : state.devices;
  return resolveEntries({ object: endpoints, ...(devices ? { devices } : {}) }).map(
    (resolution) => {
      const { name, port } = resolution.entry;
      const base = { name, port, source: "Manual" as const };
      if ("problem" in resolution) {
        return { ...base, healthStatus: "Unhealthy", message: resolution.problem.message };
      }
      const tailscaleIP = resolution.address;
      const device = devices && deviceByAddress(devices, tailscaleIP);
      if (!device) return { ...base, tailscaleIP, healthStatus: "Unknown" };
      return device.connectedToControl ? { ...base, tailscaleIP, healthStatus: "Healthy" } : {
        ...base,
        tailscaleIP,
        healthStatus: "Unhealthy",
        message: `device ${device.name} is not connected to the tailnet`,
      };
    },
  );
}

function statefulSetRefs({ statefulSets, live }: EndpointsObserved): StatefulSetRef[] {
  return statefulSets.map(({ metadata, spec, status }) => {
    const { name, namespace = "", creationTimestamp } = metadata;
    const service = serviceName(name);
    const clusterIP = (live.get(liveKey(SERVICE, service)) as ServiceObject | undefined)?.spec
      ?.clusterIP;
    return {
      name,
      namespace,
      connectionType: name.endsWith("-ingress") ? "ingress" as const : "egress" as const,
      desiredReplicas: spec?.replicas ?? 1,
      readyReplicas: status?.readyReplicas ?? 0,
      service,
      serviceFQDN: `${service}.${namespace}.svc.cluster.local`,
      ...(clusterIP ? { clusterIP } : {}),
      ...(creationTimestamp ? { createdAt: creationTimestamp } : {}),
    };
  });
}
