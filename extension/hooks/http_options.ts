/**
 * HTTP/2 towards an upstream, beside what the cluster's protocol options say already.
 *
 * @module
 */
import { codec } from "../../proto/codec.ts";
import { FieldCursor, findLast, LEN, type Range, stringField } from "../wire/fields.ts";
import { Splicer } from "../wire/splicer.ts";

/** Key of the entry in `Cluster.typed_extension_protocol_options`. */
const KEY = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** Fields of `HttpProtocolOptions` that leave the protocol to client or ALPN. */
const USE_DOWNSTREAM = 4, AUTO = 5;

const cluster = codec("envoy.config.cluster.v3.Cluster");
const options = codec("envoy.extensions.upstreams.http.v3.HttpProtocolOptions");
const EXPLICIT_HTTP2 = { explicitHttpConfig: { http2ProtocolOptions: {} } };

/** The fields of a cluster that has no entry yet. */
export const http2Entry: Uint8Array = cluster.encode({
  typedExtensionProtocolOptions: { [KEY]: options.toAny(EXPLICIT_HTTP2) },
});

/**
 * Protobuf merges a message that is given in two parts, and the last member of a
 * oneof wins: appended, this turns HTTP/1.1 to HTTP/2 and keeps HTTP/2 settings.
 */
const explicitHttp2 = options.encode(EXPLICIT_HTTP2);

/** Whether a map entry is that of the HTTP protocol options. */
export function isHttpOptionsEntry(bytes: Uint8Array, entry: FieldCursor): boolean {
  return entry.wireType === LEN && stringField(bytes, 1, rangeOf(entry)) === KEY;
}

/** The map entry with HTTP/2 set, unless the user left the protocol to client or ALPN. */
export function withHttp2(bytes: Uint8Array, entry: FieldCursor): Splicer {
  return editLast(bytes, { path: [2, 2], within: rangeOf(entry) }, (value) => {
    const edited = new Splicer(bytes);
    edited.keep(value.start, value.end);
    if (!choosesProtocol(bytes, value)) edited.add(explicitHttp2);
    return edited;
  });
}

function choosesProtocol(bytes: Uint8Array, value: Range): boolean {
  const field = new FieldCursor(bytes, value.start, value.end);
  while (field.next()) if (field.number === USE_DOWNSTREAM || field.number === AUTO) return true;
  return false;
}

/**
 * Replaces the last LEN field at the end of a path of field numbers, keeping all
 * else. A field that is not there counts as empty.
 */
function editLast(
  bytes: Uint8Array,
  { path, within }: { readonly path: readonly number[]; readonly within: Range },
  edit: (value: Range) => Splicer,
): Splicer {
  const [number, ...rest] = path;
  if (number === undefined) return edit(within);
  const result = new Splicer(bytes);
  const target = findLast(bytes, number, within);
  const field = new FieldCursor(bytes, within.start, within.end);
  while (field.next()) {
    if (target && field.valueStart === target.start && field.end === target.end) {
      result.addMessage(number, editLast(bytes, { path: rest, within: target }, edit));
    } else result.keep(field.start, field.end);
  }
  if (!target) {
    const empty = { start: within.end, end: within.end };
    result.addMessage(number, editLast(bytes, { path: rest, within: empty }, edit));
  }
  return result;
}

function rangeOf(field: FieldCursor): Range {
  return { start: field.valueStart, end: field.end };
}
