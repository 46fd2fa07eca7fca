/**
 * The transport socket with which Envoy sends HTTP CONNECT to an egress proxy.
 *
 * @module
 */
import { codec } from "../../proto/codec.ts";
import { stringField } from "../wire/fields.ts";
import { lenField } from "../wire/splicer.ts";

const SOCKET_NAME = "envoy.transport_sockets.http_11_proxy";

const socket = codec("envoy.config.core.v3.TransportSocket");
const proxyTransport = codec(
  "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport",
);
const rawBuffer = codec("envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer");

/** Plaintext through the proxy. */
const plain = wrap(socket.encode({
  name: "envoy.transport_sockets.raw_buffer",
  typedConfig: rawBuffer.toAny({}),
}));

/**
 * Wraps the cluster's own transport socket, such as the PROXY protocol that a
 * BackendTrafficPolicy asks for; an endpoint without a proxy in its metadata gets
 * the inner one alone.
 *
 * @param inner An encoded `envoy.config.core.v3.TransportSocket`; empty for none.
 */
export function proxySocket(inner: Uint8Array): Uint8Array {
  if (inner.length === 0) return plain;
  return stringField(inner, 1) === SOCKET_NAME ? inner : wrap(inner);
}

/** By splicing, so that nothing of the inner socket is lost. */
function wrap(inner: Uint8Array): Uint8Array {
  return socket.encode({
    name: SOCKET_NAME,
    typedConfig: { type_url: proxyTransport.typeUrl, value: lenField(1, inner) },
  });
}
