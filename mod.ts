/**
 * The public API: the kinds, what controllers decide, what hooks render. All of
 * it is pure; the operator around it is started by `main.ts`.
 *
 * @example
 * ```ts
 * import { crdYaml, KINDS } from "./mod.ts";
 * for (const kind of KINDS) crdYaml(kind);
 * ```
 *
 * @module
 */
export { admit } from "./api/admission.ts";
export { crdOf } from "./api/crd.ts";
export { crdYaml } from "./api/generated.ts";
export { KINDS } from "./api/registry.ts";
export { TailscaleEndpoints } from "./api/tailscale_endpoints.ts";
export { TailscaleGateway } from "./api/tailscale_gateway.ts";
export { TailscaleGatewayRevision } from "./api/tailscale_gateway_revision.ts";
export { TailscaleProxyGroup } from "./api/tailscale_proxy_group.ts";
export { TailscaleRoutePolicy } from "./api/tailscale_route_policy.ts";
export { TailscaleServices } from "./api/tailscale_services.ts";
export { TailscaleTailnet } from "./api/tailscale_tailnet.ts";
export type { Backend, HealthCheck, Upstream } from "./backends/backend.ts";
export { resolveRoutes } from "./backends/routes.ts";
export type { Action, Controller, Plan } from "./controllers/controller.ts";
export { CONTROLLERS } from "./controllers/registry.ts";
export type { World } from "./controllers/world.ts";
export { envoyGatewayConfig, HOOKS } from "./extension/registry.ts";
export { buildSnapshot, type Snapshot } from "./extension/snapshot.ts";
