/**
 * Encoding and decoding of the messages that we author: the Envoy messages of
 * `proto/envoy/` and the extension service's own.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import descriptor from "./descriptor.json" with { type: "json" };
import type { Any, Messages } from "./types.ts";

// protobufjs drops unknown fields unless it is told not to. A process-wide switch:
// nothing here may lose what a newer Envoy Gateway sends.
protobuf.Reader.discardUnknown = false;

const root = protobuf.Root.fromJSON(descriptor as protobuf.INamespace);

/** The full name of a message that `proto/` declares. */
export type MessageName = keyof Messages;

/** Encodes and decodes one message type. */
export interface Codec<T> {
  /** As in `google.protobuf.Any`, such as `type.googleapis.com/google.protobuf.Any`. */
  readonly typeUrl: string;
  encode(message: T): Uint8Array;
  /** Keeps fields that `proto/` does not declare, for {@linkcode Codec.encode}. */
  decode(bytes: Uint8Array): T;
  /** Wraps the message for an `Any` field. */
  toAny(message: T): Any;
}

/**
 * The codec of a message.
 *
 * @example
 * ```ts
 * import { codec } from "./codec.ts";
 * codec("envoy.type.v3.Int64Range").encode({ start: 200, end: 300 });
 * ```
 */
export function codec<N extends MessageName>(name: N): Codec<Messages[N]> {
  const type = root.lookupType(name);
  const typeUrl = `type.googleapis.com/${name}`;
  const encode = (message: Messages[N]) => type.encode(message).finish();
  return {
    typeUrl,
    encode,
    decode: (bytes) => type.decode(bytes) as unknown as Messages[N],
    toAny: (message) => ({ type_url: typeUrl, value: encode(message) }),
  };
}

/** The full names of the extension service's methods, such as `PostRouteModify`. */
export function extensionMethods(): readonly string[] {
  return Object.keys(root.lookupService("envoygateway.extension.EnvoyGatewayExtension").methods);
}
