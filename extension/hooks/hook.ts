/**
 * What every hook is: a pure function from what the operator knows and the bytes
 * of a request to the bytes of the response.
 *
 * @module
 */
import type { Snapshot } from "../snapshot.ts";
import type { GatewayRevision } from "./revisions.ts";

/** What a call was about. */
export interface HookFacts {
  /** The TailscaleGatewayRevisions that came with the call. */
  readonly revisions: readonly GatewayRevision[];
  /** How many of what the call had, by a name such as `clusters`. */
  readonly counts: Readonly<Record<string, number>>;
}

/** What a hook answers. */
export interface HookResult {
  /** The encoded response message; may share the request's memory. */
  readonly response: Uint8Array;
  readonly facts: HookFacts;
}

/** A method of Envoy Gateway's extension service. */
export interface Hook {
  /** The method's name. */
  readonly method: string;
  /** What Envoy Gateway calls it in `hooks.xdsTranslator.post`. */
  readonly point:
    | "Route"
    | "VirtualHost"
    | "HTTPListener"
    | "Cluster"
    | "Endpoints"
    | "Translation";
  /** Whether Envoy Gateway is to call it: each costs one call per object. */
  readonly registered: boolean;
  /** @throws {MalformedMessageError} when the request is no protobuf message. */
  run(snapshot: Snapshot, request: Uint8Array): HookResult;
}
