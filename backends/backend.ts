/**
 * What a backendRef of ours comes to: addresses in the order in which Envoy is
 * to try them, and how Envoy is to speak to them. Hooks, status and CLI all read
 * this one form.
 *
 * @module
 */

/** An address that Envoy connects to. */
export interface Upstream {
  /** The name of the entry that it came from, for status and metadata. */
  readonly name: string;
  /** An IP address, or a DNS name where {@linkcode Upstream.dns} says so. */
  readonly address: string;
  readonly port: number;
  /** True when `address` is a DNS name that Envoy has to resolve. */
  readonly dns?: boolean;
  /**
   * The egress proxy to which Envoy sends HTTP CONNECT for this upstream; absent
   * when Envoy reaches the address itself.
   */
  readonly proxy?: { readonly address: string; readonly port: number };
  /** Host header of health checks, and SNI where TLS is spoken. */
  readonly hostname?: string;
  /** Relative weight, at least 1. */
  readonly weight: number;
}

/** An active health check; durations in milliseconds. */
export interface HealthCheck {
  readonly type: "HTTP" | "GRPC" | "TCP";
  /** HTTP only. */
  readonly path?: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
}

/** The resolved backends of one route rule or backendRef. */
export interface Backend {
  /** What Envoy speaks to the upstreams. */
  readonly protocol: "HTTP" | "HTTP2" | "TCP";
  /** Upstreams by priority: index 0 is tried first. Lists may be empty. */
  readonly priorities: readonly (readonly Upstream[])[];
  readonly healthCheck?: HealthCheck;
}
