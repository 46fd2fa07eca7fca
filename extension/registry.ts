/**
 * The one list of hooks. The gRPC service and Envoy Gateway's configuration are
 * both made from it, so that they cannot disagree.
 *
 * @module
 */
import type { Hook } from "./hooks/hook.ts";
import { postClusterModify } from "./hooks/post_cluster_modify.ts";
import { postEndpointsModify } from "./hooks/post_endpoints_modify.ts";
import { postHTTPListenerModify } from "./hooks/post_http_listener_modify.ts";
import { postRouteModify } from "./hooks/post_route_modify.ts";
import { postTranslateModify } from "./hooks/post_translate_modify.ts";
import { postVirtualHostModify } from "./hooks/post_virtual_host_modify.ts";

/** Every hook that is served. */
export const HOOKS: readonly Hook[] = [
  postRouteModify,
  postVirtualHostModify,
  postHTTPListenerModify,
  postClusterModify,
  postEndpointsModify,
  postTranslateModify,
];

/** The gRPC service that {@linkcode HOOKS} are the methods of. */
export const SERVICE = "envoygateway.extension.EnvoyGatewayExtension";

/** Largest message by default, of Envoy Gateway and of ours: 64 MiB. */
export const DEFAULT_MAX_MESSAGE_BYTES: number = 64 * 1024 * 1024;

/** Kinds of ours that routes may name as backends. */
export const DEFAULT_BACKEND_KINDS: readonly string[] = ["TailscaleEndpoints", "TailscaleServices"];

/** Options of {@linkcode envoyGatewayConfig}. */
export interface EnvoyGatewayConfigOptions {
  /** Host name of the Service in front of the operator. */
  readonly hostname: string;
  readonly port: number;
  /** @default {DEFAULT_MAX_MESSAGE_BYTES} */
  readonly maxMessageBytes?: number;
  /**
   * Kinds that routes may name as backends. Each one's CRD must be installed, since
   * Envoy Gateway waits for it.
   *
   * @default {DEFAULT_BACKEND_KINDS}
   */
  readonly backendKinds?: readonly string[];
}

/**
 * The value of `extensionManager:` in Envoy Gateway's configuration.
 *
 * @example
 * ```ts
 * import { envoyGatewayConfig } from "./registry.ts";
 * const config = { extensionManager: envoyGatewayConfig({ hostname: "localhost", port: 5005 }) };
 * ```
 */
export function envoyGatewayConfig(options: EnvoyGatewayConfigOptions): Record<string, unknown> {
  const { hostname, port, maxMessageBytes = DEFAULT_MAX_MESSAGE_BYTES } = options;
  const { backendKinds = DEFAULT_BACKEND_KINDS } = options;
  return {
    backendResources: backendKinds.map(resource),
    policyResources: [resource("TailscaleGatewayRevision")],
    hooks: {
      xdsTranslator: {
        post: HOOKS.filter((hook) => hook.registered).map((hook) => hook.point),
        translation: {
          cluster: { includeAll: true },
          route: { includeAll: true },
          // Private keys have no business here.
          secret: { includeAll: false },
          listener: { includeAll: false },
        },
      },
    },
    service: { fqdn: { hostname, port } },
    maxMessageSize: quantity(maxMessageBytes),
    // On an error Envoy Gateway keeps the last good configuration, where `true` would
    // publish our clusters without endpoints.
    failOpen: false,
  };
}

function resource(kind: string): Record<string, string> {
  return { group: "gateway.tailscale.com", version: "v1alpha1", kind };
}

function quantity(bytes: number): string {
  const mebi = bytes / (1024 * 1024);
  return Number.isInteger(mebi) ? `${mebi}Mi` : String(bytes);
}
