/**
 * Backends for tests.
 *
 * @module
 */
import type { Backend, HealthCheck, Upstream } from "../../backends/backend.ts";

/** An upstream behind an egress proxy. */
export function tailnetHost(name: string, overrides: Partial<Upstream> = {}): Upstream {
  return {
    name,
    address: "100.64.0.10",
    port: 8080,
    proxy: { address: "10.96.0.9", port: 1055 },
    hostname: `${name}.tail1234.ts.net`,
    weight: 1,
    ...overrides,
  };
}

/** An upstream that Envoy reaches itself. */
export function directHost(name: string, overrides: Partial<Upstream> = {}): Upstream {
  return { name, address: "10.1.2.3", port: 8080, weight: 1, ...overrides };
}

/** A health check every 10 s. */
export function check(
  type: HealthCheck["type"],
  overrides: Partial<HealthCheck> = {},
): HealthCheck {
  return {
    type,
    intervalMs: 10_000,
    timeoutMs: 1_500,
    healthyThreshold: 1,
    unhealthyThreshold: 3,
    ...overrides,
  };
}

/** An HTTP backend of one priority. */
export function backend(upstreams: readonly Upstream[], overrides: Partial<Backend> = {}): Backend {
  return { protocol: "HTTP", priorities: [upstreams], ...overrides };
}
