/**
 * From the entries of a TailscaleEndpoints to the addresses that Envoy connects
 * to. Hooks and status read the same answer.
 *
 * @module
 */
import { isTailnetAddress } from "../core/cidr.ts";
import { deviceByName, type TailnetDevice } from "../core/device.ts";
import { deepEqual } from "../core/equal.ts";
import type { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import type {
  ResolvedEndpoint,
  ResolvedEndpointsSpec,
} from "../api/tailscale_endpoints_defaults.ts";
import type { Backend, HealthCheck, Upstream } from "./backend.ts";

/** What resolving a TailscaleEndpoints needs. */
export interface EndpointsView {
  readonly object: TailscaleEndpoints;
  /** Its spec with every default. */
  readonly spec: ResolvedEndpointsSpec;
  /** The devices of its tailnet; undefined while they are not known. */
  readonly devices?: readonly TailnetDevice[];
  /**
   * While the devices are not known: the addresses, by `tailscaleFQDN`, that its
   * status told when they were. A restart while Tailscale's API is down must not
   * take from Envoy the hosts that it has; and a replica that does not lead knows
   * them from there alone.
   */
  readonly told?: ReadonlyMap<string, string>;
  /** The CONNECT port of its egress proxies; undefined while none of them is ready. */
  readonly proxy?: { readonly address: string; readonly port: number };
  /** Why the object as a whole is not to be used, if so. */
  readonly refused?: Problem;
}

/** Why something does not resolve, in the words of a condition. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}

/** An entry's address, or why it has none. */
export type EntryResolution =
  | { readonly entry: ResolvedEndpoint; readonly address: string; readonly port: number }
  | { readonly entry: ResolvedEndpoint; readonly problem: Problem };

/** Resolves every entry by itself: a bad one never stops the others. */
export function resolveEntries(view: EndpointsView): EntryResolution[] {
  return view.spec.endpoints.map((entry) => resolveEntry(entry, view));
}

function resolveEntry(
  entry: ResolvedEndpoint,
  { devices, told }: EndpointsView,
): EntryResolution {
  const { port, tailscaleIP, tailscaleFQDN } = entry;
  if (tailscaleIP) {
    if (isTailnetAddress(tailscaleIP)) return { entry, address: tailscaleIP, port };
    return problem(
      entry,
      "AddressNotRouted",
      `has the address ${tailscaleIP}, which is not in a tailnet's ranges ` +
        "(100.64.0.0/10, fd7a:115c:a1e0::/48). Addresses behind subnet routers are not supported yet.",
    );
  }
  if (!tailscaleFQDN) {
    return problem(entry, "NotSupported", "has neither tailscaleIP nor tailscaleFQDN.");
  }
  if (!devices) {
    const address = told?.get(tailscaleFQDN);
    if (address) return { entry, address, port };
    const text = `names ${tailscaleFQDN}; the tailnet's devices are not known yet.`;
    return problem(entry, "TailnetNotReady", text);
  }
  const device = deviceByName(devices, tailscaleFQDN);
  const address = device && preferredAddress(device);
  return address ? { entry, address, port } : problem(
    entry,
    "HostNotFound",
    `names ${tailscaleFQDN}, and the tailnet has no device of that name. ` +
      "Give the full name, as `tailscale status` shows it.",
  );
}

/** The address under which a device is reached and shown: its IPv4 one, else what it has. */
export function preferredAddress({ addresses }: TailnetDevice): string | undefined {
  return addresses.find((address) => !address.includes(":")) ?? addresses[0];
}

function problem(entry: ResolvedEndpoint, reason: string, text: string): EntryResolution {
  return { entry, problem: { reason, message: `endpoint ${entry.name} ${text}` } };
}

/** The backend of a backendRef, or why there is none. */
export type BackendResolution = { readonly backend: Backend } | { readonly problem: Problem };

/**
 * The backend that a backendRef to the object means: the entries with that port,
 * all of them where it names none. Without a ready proxy it has no upstreams.
 */
export function resolveBackend(view: EndpointsView, port: number | undefined): BackendResolution {
  if (view.refused) return { problem: view.refused };
  const picked = resolveEntries(view).filter(({ entry }) =>
    port === undefined || entry.port === port
  );
  const { name } = view.object.metadata;
  const first = picked[0]?.entry;
  if (!first) {
    const text = port === undefined
      ? `TailscaleEndpoints ${name} has no endpoints. Add one.`
      : `TailscaleEndpoints ${name} has no endpoint with port ${port}: a backendRef's port is the ` +
        "endpoint's. Change one of the two.";
    return refusal("PortUnserved", text);
  }
  const protocol = protocolOf(first);
  const healthCheck = healthCheckOf(first);
  const odd = picked.find(({ entry }) =>
    protocolOf(entry) !== protocol || !deepEqual(healthCheckOf(entry), healthCheck)
  );
  if (odd) {
    return refusal(
      "MixedSettings",
      `endpoints ${first.name} and ${odd.entry.name} of TailscaleEndpoints ${name} ` +
        "differ in protocol or healthCheck; a backendRef needs them alike. Give them different ports.",
    );
  }
  return {
    backend: {
      protocol,
      priorities: [picked.flatMap((resolution) => upstreamOf(resolution, view))],
      ...(healthCheck ? { healthCheck } : {}),
    },
  };
}

function refusal(reason: string, message: string): BackendResolution {
  return { problem: { reason, message } };
}

function upstreamOf(resolution: EntryResolution, { proxy }: EndpointsView): Upstream[] {
  if ("problem" in resolution || !proxy) return [];
  const { entry, address, port } = resolution;
  return [{
    name: entry.name,
    address,
    port,
    proxy,
    ...(entry.tailscaleFQDN ? { hostname: entry.tailscaleFQDN.replace(/\.$/, "") } : {}),
    weight: entry.weight,
  }];
}

/** What Envoy speaks to an entry. */
export function protocolOf(entry: ResolvedEndpoint): Backend["protocol"] {
  switch (entry.protocol) {
    case "HTTP2":
    case "GRPC":
      return "HTTP2";
    case "TCP":
    case "TLS":
      return "TCP";
    default:
      return "HTTP";
  }
}

/** The health check of an entry: what it asks for, else the default of its protocol. */
export function healthCheckOf({ healthCheck }: ResolvedEndpoint): HealthCheck | undefined {
  const { enabled, path, ...rest } = healthCheck;
  if (!enabled) return undefined;
  return { ...rest, ...(rest.type === "HTTP" ? { path } : {}) };
}
