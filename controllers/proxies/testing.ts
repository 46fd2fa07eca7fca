/**
 * Proxy sets for tests.
 *
 * @module
 */
import type { ProxySet } from "./proxy_set.ts";
import { endpoints } from "../testing/builders.ts";

/** Two egress proxies of TailscaleEndpoints `apps/intranet`. */
export function proxySet(rest: Partial<ProxySet> = {}): ProxySet {
  return {
    owner: endpoints(),
    name: "intranet-egress",
    namespace: "apps",
    connectionType: "egress",
    replicas: 2,
    tailnet: "corp",
    tags: ["tag:k8s"],
    loginURL: "https://controlplane.tailscale.com",
    acceptRoutes: true,
    ephemeral: false,
    pod: { image: "tailscale/tailscale:v1.98.4" },
    ...rest,
  };
}
