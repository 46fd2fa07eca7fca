/**
 * A simulated tailnet and Tailscale's HTTP API over it.
 *
 * @module
 */
export type { AuthKeyRecord, TailnetBackend, TailnetNode } from "./backend.ts";
export type { Fault } from "./faults.ts";
export type { FederatedClient } from "./federation.ts";
export {
  type Host,
  type HostOptions,
  MemoryTailnet,
  type MemoryTailnetOptions,
  RegistrationRefused,
} from "./memory.ts";
export type { OAuthClient } from "./oauth.ts";
export {
  type LoggedRequest,
  TailscaleApiServer,
  type TailscaleApiServerOptions,
} from "./server.ts";
export type { TailnetService } from "./services.ts";
