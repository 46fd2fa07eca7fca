/**
 * The proxies that a TailscaleEndpoints asks for.
 *
 * @module
 */
import type {
  ResolvedEndpoint,
  ResolvedEndpointsSpec,
} from "../../api/tailscale_endpoints_defaults.ts";
import type { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import type { EndpointsView } from "../../backends/endpoints.ts";
import { type ProxySet, statefulSetName } from "../proxies/proxy_set.ts";
import type { Settings } from "../world.ts";

const DEFAULT_LOGIN_URL = "https://controlplane.tailscale.com";

/** The egress proxies of the object; undefined where it asks for something that is not done yet. */
export function proxySetOf(
  { object: endpoints, spec }: EndpointsView,
  tailnet: TailscaleTailnet,
  settings: Settings,
): ProxySet | undefined {
  const { proxy } = spec;
  if (unsupported(spec) || !proxy) return undefined;
  const { replicas, image, hostnamePrefix, acceptRoutes, ephemeral, ...pod } = proxy;
  return {
    owner: endpoints,
    name: statefulSetName(endpoints.metadata.name, "egress"),
    namespace: endpoints.metadata.namespace ?? "",
    connectionType: "egress",
    replicas,
    tailnet: tailnet.metadata.name,
    tags: mergeTags(tailnet.spec.tags, spec.tags),
    loginURL: (tailnet.spec.loginURL ?? DEFAULT_LOGIN_URL).replace(/\/+$/, ""),
    hostnamePrefix,
    acceptRoutes: acceptRoutes ?? true,
    ephemeral,
    pod: { ...pod, image: image ?? settings.proxyImage },
  };
}

/** The tailnet's default tags and the object's own, each once. */
function mergeTags(...lists: (readonly string[] | undefined)[]): string[] {
  return [...new Set(lists.flatMap((list) => list ?? []))];
}

/** What the spec asks for that no controller does yet, in a sentence; undefined where all is done. */
export function unsupported(spec: ResolvedEndpointsSpec): string | undefined {
  const asked = [
    ...(spec.proxyGroup ? ["proxyGroup"] : []),
    ...(spec.proxy && spec.proxy.connectionType !== "egress"
      ? [`proxy.connectionType: ${spec.proxy.connectionType} (set it to egress)`]
      : []),
    ...(spec.proxy?.networking === "Kernel" ? ["proxy.networking: Kernel"] : []),
    ...(spec.autoDiscovery.enabled ? ["autoDiscovery"] : []),
    ...(spec.ports.length > 0 ? ["ports"] : []),
    ...spec.endpoints.flatMap(unsupportedEntry),
  ];
  return asked.length === 0 ? undefined : `Not supported yet: ${asked.join("; ")}.`;
}

/** What HTTP routes can reach without TLS to the target. */
const PROTOCOLS: ReadonlySet<string> = new Set(["HTTP", "HTTP2", "GRPC"]);

function unsupportedEntry(entry: ResolvedEndpoint): string[] {
  return [
    ...(entry.externalTarget ? [`externalTarget of endpoint ${entry.name}`] : []),
    ...(entry.tls ? [`tls of endpoint ${entry.name}`] : []),
    ...(PROTOCOLS.has(entry.protocol)
      ? []
      : [`protocol ${entry.protocol} of endpoint ${entry.name}`]),
  ];
}
