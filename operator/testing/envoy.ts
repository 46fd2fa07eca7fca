/**
 * Plays Envoy Gateway in tests: calls the hooks over gRPC, and says so in the
 * status of the revision.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Client, credentials } from "@grpc/grpc-js";
import { ENVOY_GATEWAY_CONTROLLER } from "../../api/gateway_api.ts";
import { GATEWAY_GROUP } from "../../api/resources.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { SERVICE } from "../../extension/registry.ts";
import type { KubeClient } from "../../kube/client.ts";
import { codec } from "../../proto/codec.ts";

const CLUSTER = codec("envoy.config.cluster.v3.Cluster");
const REQUEST = codec("envoygateway.extension.PostTranslateModifyRequest");
const RESPONSE = codec("envoygateway.extension.PostTranslateModifyResponse");
const EDS = 3;

/** An Envoy Gateway that translates when it is told to. */
export class TestEnvoyGateway {
  readonly #grpc: Client;

  constructor(port: number) {
    this.#grpc = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  }

  /** Sends clusters of these names, and gives the upstream addresses of each that came back. */
  async translate(
    clusters: readonly string[],
    revision?: TailscaleGatewayRevision,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const extensionResources = revision
      ? [{ unstructuredBytes: new TextEncoder().encode(JSON.stringify(revision)) }]
      : [];
    const request = REQUEST.encode({
      postTranslateContext: { extensionResources },
      clusters: clusters.map((name) =>
        CLUSTER.encode({ name, type: EDS, edsClusterConfig: { serviceName: name } })
      ),
    });
    const response = RESPONSE.decode(await this.call(request));
    return new Map((response.clusters ?? []).map((bytes) => upstreamsOf(bytes)));
  }

  /** Calls PostTranslateModify with any bytes. */
  call(request: Uint8Array): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.#grpc.makeUnaryRequest(
      `/${SERVICE}/PostTranslateModify`,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer): Uint8Array => bytes,
      request,
      (error, response) => error ? reject(error) : resolve(response ?? new Uint8Array()),
    );
    return promise;
  }

  close(): void {
    this.#grpc.close();
  }
}

function upstreamsOf(bytes: Uint8Array): [string, string[]] {
  const cluster = CLUSTER.decode(bytes);
  const endpoints = (cluster.loadAssignment?.endpoints ?? [])
    .flatMap(({ lbEndpoints }) => lbEndpoints ?? []);
  const addresses = endpoints.flatMap(({ endpoint }) => {
    const socket = endpoint?.address?.socketAddress;
    return socket ? [`${socket.address}:${socket.portValue}`] : [];
  });
  return [cluster.name ?? "", addresses];
}

/** Envoy Gateway's own word on a revision. */
export async function acceptRevision(
  client: KubeClient,
  { metadata: { name, namespace } }: TailscaleGatewayRevision,
): Promise<void> {
  const ancestors = [{
    ancestorRef: { group: GATEWAY_GROUP, kind: "Gateway", name },
    controllerName: ENVOY_GATEWAY_CONTROLLER,
    conditions: [],
  }];
  await client.patch(
    TailscaleGatewayRevision.resource,
    name,
    namespace,
    { status: { ancestors } },
    {
      contentType: "application/merge-patch+json",
      subresource: "status",
    },
  );
}
