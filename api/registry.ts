/**
 * The kinds of ours: CRDs, reference page, watches and tables come from this list.
 *
 * @module
 */

import type { Kind } from "./kind.ts";
import { TailscaleEndpoints } from "./tailscale_endpoints.ts";
import { TailscaleGateway } from "./tailscale_gateway.ts";
import { TailscaleGatewayRevision } from "./tailscale_gateway_revision.ts";
import { TailscaleProxyGroup } from "./tailscale_proxy_group.ts";
import { TailscaleRoutePolicy } from "./tailscale_route_policy.ts";
import { TailscaleServices } from "./tailscale_services.ts";
import { TailscaleTailnet } from "./tailscale_tailnet.ts";

/** Every kind, in the order in which a newcomer meets them. */
export const KINDS: readonly Kind[] = [
  TailscaleTailnet,
  TailscaleEndpoints,
  TailscaleServices,
  TailscaleGateway,
  TailscaleRoutePolicy,
  TailscaleProxyGroup,
  TailscaleGatewayRevision,
];

/** The kind of that name, if it is one of ours. */
export function kindNamed(name: string): Kind | undefined {
  return KINDS.find((kind) => kind.kind === name);
}
