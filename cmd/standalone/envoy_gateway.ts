/**
 * A stand-in for Envoy Gateway: sends the clusters and routes that it would make
 * of the HTTPRoutes to the extension server, over gRPC as it does, and keeps what
 * comes back.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Client, credentials } from "@grpc/grpc-js";
import { objectKey } from "../../core/object.ts";
import type { HTTPRoute } from "../../api/gateway_api.ts";
import { ENVOY_GATEWAY_CONTROLLER } from "../../api/gateway_api.ts";
import { GATEWAY_GROUP, HTTP_ROUTE } from "../../api/resources.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { parentGateways } from "../../backends/routes.ts";
import { SERVICE } from "../../extension/registry.ts";
import { clusterNameOf } from "../../extension/snapshot.ts";
import type { KubeClient } from "../../kube/client.ts";
import { codec } from "../../proto/codec.ts";

const CLUSTER = codec("envoy.config.cluster.v3.Cluster");
const ROUTES = codec("envoy.config.route.v3.RouteConfiguration");
const REQUEST = codec("envoygateway.extension.PostTranslateModifyRequest");
const RESPONSE = codec("envoygateway.extension.PostTranslateModifyResponse");

const EDS = 3;

/** A call that is not answered by then failed. */
const CALL_MS = 10_000;

/** What Envoy would get. */
export interface Translation {
  readonly clusters: readonly Record<string, unknown>[];
  readonly routes: readonly Record<string, unknown>[];
}

/** Calls the hooks of an extension server as Envoy Gateway would. */
export class SimulatedEnvoyGateway {
  readonly #client: KubeClient;
  readonly #grpc: Client;

  constructor({ client, port }: { client: KubeClient; port: number }) {
    this.#client = client;
    // With retries a call on a connection that was cut is begun again for ever, without
    // a pause, and nothing else runs any more (grpc-js 1.14.7 on Deno 2.9.3).
    const options = { "grpc.enable_retries": 0 };
    this.#grpc = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), options);
  }

  /** Translates all HTTPRoutes once, and says on the revision that it did. */
  async translate(revision: TailscaleGatewayRevision): Promise<Translation> {
    const { items } = await this.#client.list<HTTPRoute>(HTTP_ROUTE);
    const { namespace, name } = revision.metadata;
    const routes = items.filter((route) =>
      parentGateways(route).includes(objectKey(namespace, name))
    );
    const resource = { unstructuredBytes: new TextEncoder().encode(JSON.stringify(revision)) };
    const request = REQUEST.encode({
      postTranslateContext: { extensionResources: [resource] },
      clusters: routes.flatMap(clustersOf).map((cluster) => CLUSTER.encode(cluster)),
      routes: [ROUTES.encode(routeConfiguration(name, routes))],
    });
    const response = RESPONSE.decode(await this.#call("PostTranslateModify", request));
    await this.#accept(revision);
    return {
      clusters: (response.clusters ?? []).map((bytes) => readable(CLUSTER.decode(bytes))),
      routes: (response.routes ?? []).map((bytes) => readable(ROUTES.decode(bytes))),
    };
  }

  close(): void {
    this.#grpc.close();
  }

  #call(method: string, request: Uint8Array): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    this.#grpc.makeUnaryRequest(
      `/${SERVICE}/${method}`,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer): Uint8Array => bytes,
      request,
      { deadline: Date.now() + CALL_MS },
      (error, response) => error ? reject(error) : resolve(response ?? new Uint8Array()),
    );
    return promise;
  }

  /** Envoy Gateway's own status on the policy. */
  async #accept({ metadata: { name, namespace } }: TailscaleGatewayRevision): Promise<void> {
    const ancestors = [{
      ancestorRef: { group: GATEWAY_GROUP, kind: "Gateway", name },
      controllerName: ENVOY_GATEWAY_CONTROLLER,
      conditions: [],
    }];
    await this.#client.patch(
      TailscaleGatewayRevision.resource,
      name,
      namespace,
      { status: { ancestors } },
      { contentType: "application/merge-patch+json", subresource: "status" },
    );
  }
}

function routeName({ metadata: { namespace = "", name } }: HTTPRoute) {
  return { kind: "HTTPRoute" as const, namespace, name };
}

function clustersOf(route: HTTPRoute) {
  return (route.spec.rules ?? []).map((_rule, index) => {
    const name = clusterNameOf(routeName(route), index);
    return { name, type: EDS, edsClusterConfig: { serviceName: name } };
  });
}

function routeConfiguration(gateway: string, routes: readonly HTTPRoute[]) {
  return {
    name: gateway,
    virtualHosts: routes.map((route) => ({
      name: `${route.metadata.namespace}/${route.metadata.name}`,
      domains: route.spec.hostnames ?? ["*"],
      routes: (route.spec.rules ?? []).map((rule, index) => {
        const cluster = clusterNameOf(routeName(route), index);
        return { name: cluster, match: { prefix: prefixOf(rule) }, route: { cluster } };
      }),
    })),
  };
}

function prefixOf(rule: NonNullable<HTTPRoute["spec"]["rules"]>[number]): string {
  const path = rule.matches?.[0]?.path as { value?: string } | undefined;
  return path?.value ?? "/";
}

/** A message for people: what stands in `Any` fields is decoded too, empty fields are left out. */
export function readable(value: object): Record<string, unknown> {
  return readableValue(JSON.parse(JSON.stringify(value, bytesAsText))) as Record<string, unknown>;
}

function bytesAsText(_key: string, value: unknown): unknown {
  if (!isAny(value)) return value instanceof Uint8Array ? "<bytes>" : value;
  const name = value.type_url.slice(value.type_url.lastIndexOf("/") + 1);
  try {
    return { "@type": name, ...codec(name as Parameters<typeof codec>[0]).decode(value.value) };
  } catch {
    return { "@type": name }; // a message that we do not author: its name has to do
  }
}

function isAny(value: unknown): value is { type_url: string; value: Uint8Array } {
  return typeof (value as { type_url?: unknown } | null)?.type_url === "string";
}

function readableValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(readableValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => !(Array.isArray(item) && item.length === 0))
      .map(([key, item]) => [key, readableValue(item)]),
  );
}
