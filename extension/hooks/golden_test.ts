/**
 * What PostTranslateModify makes of a request of the real Envoy Gateway, decoded,
 * for backends of each sort. `UPDATE_GOLDEN=1` writes the files anew.
 */
import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import type { Backend } from "../../backends/backend.ts";
import { codec } from "../../proto/codec.ts";
import { buildSnapshot } from "../snapshot.ts";
import { backend, check, directHost, tailnetHost } from "../testdata/backends.ts";
import { postTranslateModify } from "./post_translate_modify.ts";

const HTTP = "httproute/apps/web/rule/0";
/** Its BackendTrafficPolicy has health checks, timeouts and circuit breakers. */
const GRPC = "grpcroute/apps/rpc/rule/0";
/** Its BackendTrafficPolicy asks for PROXY protocol. */
const TCP = "tcproute/apps/db/rule/-1";

const api = tailnetHost("api");
const failover: Backend = backend([], {
  priorities: [
    [directHost("local-a", { weight: 3, hostname: "a.example" }), directHost("local-b")],
    [],
    [api, tailnetHost("remote", { address: "fd7a:115c:a1e0::20", port: 443 })],
  ],
  healthCheck: check("HTTP", { path: "/healthz" }),
});
const unusable: Backend = backend([
  directHost("name-as-address", { address: "api.example" }),
  directHost("port-0", { port: 0 }),
  directHost("zone", { address: "fe80::1%eth0" }),
  tailnetHost("proxy-name", { proxy: { address: "egress.apps.svc", port: 1055 } }),
  directHost("good", { weight: 0 }),
], { healthCheck: check("GRPC") });

const cases: Record<string, Record<string, Backend>> = {
  "tailnet host": { [HTTP]: backend([api]) },
  "failover with health checks": { [HTTP]: failover },
  "HTTP/2 beside the user's policy": { [GRPC]: backend([api], { protocol: "HTTP2" }) },
  "the user's health checks stay": { [GRPC]: { ...failover, protocol: "HTTP2" } },
  "gRPC health checks": {
    [HTTP]: backend([api], { protocol: "HTTP2", healthCheck: check("GRPC") }),
  },
  "HTTP health checks over HTTP/2": {
    [HTTP]: backend([api], { protocol: "HTTP2", healthCheck: check("HTTP") }),
  },
  "TCP through PROXY protocol": {
    [TCP]: backend([tailnetHost("db", { port: 5432 })], {
      protocol: "TCP",
      healthCheck: check("TCP"),
    }),
  },
  "DNS name beside a tailnet host": {
    [HTTP]: backend([directHost("web", { address: "web.apps.svc.cluster.local", dns: true }), api]),
  },
  "no endpoints": { [HTTP]: backend([], { healthCheck: check("HTTP") }), [TCP]: backend([]) },
  "what Envoy would refuse": { [HTTP]: unusable },
  "every cluster of ours": {
    [HTTP]: failover,
    [GRPC]: backend([api], { protocol: "HTTP2" }),
    [TCP]: backend([api], { protocol: "TCP" }),
  },
};

const response = codec("envoygateway.extension.PostTranslateModifyResponse");
const cluster = codec("envoy.config.cluster.v3.Cluster");

async function render(backends: Record<string, Backend>): Promise<string> {
  const file = new URL("testdata/envoy-gateway-1.9.1/PostTranslateModify.bin", import.meta.url);
  const snapshot = buildSnapshot({
    clusters: Object.entries(backends)
      .map(([name, backend]) => ({ cluster: name, backend, gateways: ["apps/edge"] })),
  });
  const result = postTranslateModify.run(snapshot, await Deno.readFile(file));
  const clusters = (response.decode(result.response).clusters ?? []).map(cluster.decode);
  const golden = {
    snapshot: { version: snapshot.version, gateways: Object.fromEntries(snapshot.gateways) },
    problems: [...snapshot.clusters.values()].flatMap((edit) => edit.problems),
    facts: result.facts,
    responseSha256: createHash("sha256").update(result.response).digest("hex"),
    clusters: clusters.filter(({ name }) => snapshot.clusters.has(name ?? "")),
  };
  return JSON.stringify(golden, null, 2) + "\n";
}

for (const [title, backends] of Object.entries(cases)) {
  Deno.test(`M256 golden: ${title}`, async () => {
    const name = title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
    const file = new URL(`testdata/${name}.golden.json`, import.meta.url);
    const text = await render(backends);
    if (Deno.env.get("UPDATE_GOLDEN") === "1") await Deno.writeTextFile(file, text);
    assertEquals(text, await Deno.readTextFile(file));
    assertEquals(text, await render(backends));
  });
}
