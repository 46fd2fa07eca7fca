/**
 * Every controller; the operator runs this list.
 *
 * @module
 */
import type { ResourceType } from "../core/object.ts";
import { TailscaleGateway } from "../api/tailscale_gateway.ts";
import { TailscaleProxyGroup } from "../api/tailscale_proxy_group.ts";
import { TailscaleRoutePolicy } from "../api/tailscale_route_policy.ts";
import { TailscaleServices } from "../api/tailscale_services.ts";
import type { Controller } from "./controller.ts";
import { endpointsController } from "./endpoints/controller.ts";
import { revisionController } from "./revision/controller.ts";
import { tailnetController } from "./tailnet/controller.ts";
import { unsupportedController } from "./unsupported/controller.ts";

/** All controllers. */
export const CONTROLLERS: readonly Controller[] = [
  tailnetController,
  endpointsController,
  revisionController,
  unsupportedController("services", TailscaleServices),
  unsupportedController("gateway", TailscaleGateway),
  unsupportedController("routepolicy", TailscaleRoutePolicy),
  unsupportedController("proxygroup", TailscaleProxyGroup),
];

/** Every type that some controller reads, each once. */
export const TYPES_READ: readonly ResourceType[] = [
  ...new Set(CONTROLLERS.flatMap(({ type, mappings }) => [type, ...mappings.map((m) => m.type)])),
];

/** Types of which only what carries the operator's label is read. */
export const TYPES_MADE: ReadonlySet<ResourceType> = new Set(
  CONTROLLERS.flatMap(({ makes, patches = [] }) => [...makes, ...patches]),
);
