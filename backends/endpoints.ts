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
import { type ResolvedEndpoint, withDefaults } from "../api/tailscale_endpoints_defaults.ts";
import type { Backend, HealthCheck, Upstream } from "./backend.ts";

/** What resolving a TailscaleEndpoints needs. */
export interface EndpointsView {
  readonly object: TailscaleEndpoints;
  /** The devices of its tailnet; undefined while they are not known. */
  readonly devices?: readonly TailnetDevice[];
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
  return withDefaults(view.object.spec).endpoints.map((entry) => resolveEntry(entry, view.devices));
}

function resolveEntry(
  entry: ResolvedEndpoint,
  devices: readonly TailnetDevice[] | undefined,
): EntryResolution {
  const { port } = entry;
  if (entry.tailscaleIP) {
    return isTailnetAddress(entry.tailscaleIP)
      ? { entry, address: entry.tailscaleIP, port }
      : problem(
        entry,
        "InvalidEndpoint",
        `has the address ${entry.tailscaleIP}, which is not in a tailnet's ranges ` +
          "(100.64.0.0/10, fd7a:115c:a1e0::/48). Addresses behind subnet routers are not supported yet.",
      );
  }
  if (!entry.tailscaleFQDN) {
    return problem(entry, "NotSupported", "has neither tailscaleIP nor tailscaleFQDN.");
  }
  return resolveName(entry, entry.tailscaleFQDN, { devices, port });
}

function resolveName(
  entry: ResolvedEndpoint,
  name: string,
  { devices, port }: { devices: readonly TailnetDevice[] | undefined; port: number },
): EntryResolution {
  if (!devices) {
    return problem(
      entry,
      "HostNotFound",
      `names ${name}; the tailnet's devices are not known yet.`,
    );
  }
  const address = deviceByName(devices, name)?.addresses[0];
  return address ? { entry, address, port } : problem(
    entry,
    "HostNotFound",
    `names ${name}, and the tailnet has no device of that name. ` +
      "Give the full name, as `tailscale status` shows it.",
  );
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
  const first = picked[0];
  if (!first) {
    const which = port === undefined ? "no endpoints" : `no endpoint with port ${port}`;
    return {
      problem: { reason: "InvalidEndpoint", message: `TailscaleEndpoints ${name} has ${which}.` },
    };
  }
  const odd = picked.find(({ entry }) =>
    protocolOf(entry) !== protocolOf(first.entry) ||
    !deepEqual(healthCheckOf(entry), healthCheckOf(first.entry))
  );
  if (odd) {
    return {
      problem: {
        reason: "MixedSettings",
        message:
          `endpoints ${first.entry.name} and ${odd.entry.name} of TailscaleEndpoints ${name} ` +
          "differ in protocol or healthCheck; a backendRef needs them alike. Give them different ports.",
      },
    };
  }
  const healthCheck = healthCheckOf(first.entry);
  return {
    backend: {
      protocol: protocolOf(first.entry),
      priorities: [picked.flatMap((resolution) => upstreamOf(resolution, view))],
      ...(healthCheck ? { healthCheck } : {}),
    },
  };
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
