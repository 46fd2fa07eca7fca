/**
 * Turns one of Envoy Gateway's clusters into one with endpoints of ours, keeping
 * all else that is in it: what the user's BackendTrafficPolicy says lives there.
 *
 * @module
 */
import type { EncodedCluster } from "../encode_cluster.ts";
import { FieldCursor, type Range } from "../wire/fields.ts";
import { concat, lenField, Splicer } from "../wire/splicer.ts";
import { http2Entry, isHttpOptionsEntry, withHttp2 } from "./http_options.ts";
import { proxySocket } from "./proxy_socket.ts";

/** Fields of `envoy.config.cluster.v3.Cluster`. */
const CLUSTER = {
  type: 2,
  edsClusterConfig: 3,
  healthChecks: 8,
  transportSocket: 24,
  loadAssignment: 33,
  typedExtensionProtocolOptions: 36,
  clusterType: 38,
} as const;

/**
 * Rewrites the cluster in `bytes[range)`. A cluster that carries a service discovery
 * configuration beside another type is refused by Envoy, so that goes too.
 */
export function rewriteCluster(bytes: Uint8Array, range: Range, edit: EncodedCluster): Splicer {
  const result = new Splicer(bytes);
  const field = new FieldCursor(bytes, range.start, range.end);
  const seen = { healthChecks: false, httpOptions: false };
  let socket: Uint8Array = new Uint8Array();
  while (field.next()) {
    switch (field.number) {
      case CLUSTER.type:
      case CLUSTER.clusterType:
      case CLUSTER.edsClusterConfig:
      case CLUSTER.loadAssignment:
        continue;
      case CLUSTER.transportSocket:
        if (!edit.proxied) break;
        socket = concat([socket, bytes.subarray(field.valueStart, field.end)]);
        continue;
      case CLUSTER.healthChecks:
        seen.healthChecks = true;
        break;
      case CLUSTER.typedExtensionProtocolOptions:
        if (!edit.http2 || !isHttpOptionsEntry(bytes, field)) break;
        seen.httpOptions = true;
        result.addMessage(field.number, withHttp2(bytes, field));
        continue;
    }
    result.keep(field.start, field.end);
  }
  if (edit.proxied) result.add(lenField(CLUSTER.transportSocket, proxySocket(socket)));
  if (edit.http2 && !seen.httpOptions) result.add(http2Entry);
  result.add(seen.healthChecks ? edit.endpoints : edit.checkedEndpoints);
  return result;
}
