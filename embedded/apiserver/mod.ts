/**
 * A Kubernetes API server in memory.
 *
 * @module
 */
export type { Fault, FaultResponse } from "./faults.ts";
export { EmbeddedApiServer } from "./server.ts";
export type { EmbeddedApiServerOptions, ListeningServer, RequestRecord } from "./options.ts";
export type { ServedType } from "./types.ts";
export { ISSUER, KEYS_PATH } from "./tokens.ts";
