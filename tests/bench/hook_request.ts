/**
 * What Envoy Gateway sends, as large as wanted: its recorded clusters and routes,
 * again and again under other names.
 *
 * @module
 */
import type { Upstream } from "../../backends/backend.ts";
import { clusterNameOf } from "../../extension/snapshot.ts";
import { codec } from "../../proto/codec.ts";

const RECORDED = new URL(
  "../../extension/hooks/testdata/envoy-gateway-1.9.1/PostTranslateModify.bin",
  import.meta.url,
);

const request = codec("envoygateway.extension.PostTranslateModifyRequest");
const cluster = codec("envoy.config.cluster.v3.Cluster");
const routes = codec("envoy.config.route.v3.RouteConfiguration");

/** The cluster of the `index`th route. */
export function clusterName(index: number): string {
  return clusterNameOf({ kind: "HTTPRoute", namespace: "apps", name: `route-${index}` }, 0);
}

/** A request with so many clusters, each with a host and a route that lead to it. */
export async function translateRequest(count: number): Promise<Uint8Array> {
  const recorded = request.decode(await Deno.readFile(RECORDED));
  const [firstCluster] = recorded.clusters ?? [];
  const [firstRoutes] = recorded.routes ?? [];
  if (!firstCluster || !firstRoutes) throw new Error(`${RECORDED} has no cluster and route`);
  const template = routes.decode(firstRoutes);
  const host = template.virtualHosts?.[0];
  const route = host?.routes?.[0];
  const names = Array.from({ length: count }, (_, index) => clusterName(index));
  return request.encode({
    ...recorded,
    clusters: names.map((name) => {
      const copy = cluster.decode(firstCluster);
      return cluster.encode(Object.assign(copy, { name, edsClusterConfig: edsOf(copy, name) }));
    }),
    routes: [routes.encode(Object.assign(template, {
      virtualHosts: names.map((name, index) => ({
        ...host,
        name: `apps/edge/http/host-${index}`,
        domains: [`host-${index}.example.com`],
        routes: [{ ...route, name: `${name}/match/0/*`, route: { cluster: name } }],
      })),
    }))],
  });
}

function edsOf({ edsClusterConfig }: ReturnType<typeof cluster.decode>, serviceName: string) {
  return Object.assign(edsClusterConfig ?? {}, { serviceName });
}

/** What becomes of a cluster of ours, for both servers. */
export type Edit = Omit<Upstream, "dns"> & Required<Pick<Upstream, "proxy" | "hostname">> & {
  readonly cluster: string;
};

/** Edits of so many of the clusters, spread over all of them. */
export function editsOf(ours: number, count: number): Edit[] {
  return Array.from({ length: ours }, (_, i) => ({
    cluster: clusterName(Math.floor(i * count / ours)),
    name: `host-${i}`,
    address: `100.64.${i >> 8}.${i & 255}`,
    port: 8080,
    proxy: { address: `10.96.${i >> 8}.${i & 255}`, port: 1055 },
    hostname: `host-${i}.tail1234.ts.net`,
    weight: 1,
  }));
}
