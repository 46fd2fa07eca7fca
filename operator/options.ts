/**
 * What an operator is told, and what it tells.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { Settings } from "../controllers/world.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Log } from "../telemetry/log.ts";
import type { Election } from "./leadership.ts";
import type { TailnetsOptions } from "./tailnets.ts";

/** Options of {@linkcode Operator}. */
export interface OperatorOptions extends Pick<TailnetsOptions, "identityToken"> {
  readonly client: KubeClient;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** `host:port` of the gRPC server that Envoy Gateway calls. */
  readonly grpcAddress: string;
  /** `host:port` of metrics and health. */
  readonly httpAddress: string;
  readonly maxMessageBytes?: number;
  /** Identity in Events. */
  readonly instance: string;
  /** How replicas agree on who acts; absent: this process does. */
  readonly election?: Election;
  /** How Tailscale's API is called; default: Deno's fetch. */
  readonly fetch?: typeof fetch;
  readonly random?: () => number;
}

/** Where it listens. */
export interface Listening {
  /** Absent until the hooks are served. */
  readonly grpcPort?: number;
  readonly httpPort: number;
}
