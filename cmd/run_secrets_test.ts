import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import * as resources from "../api/resources.ts";
import { KINDS } from "../api/registry.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { encodeBase64 } from "../core/base64.ts";
import type { KubeObject } from "../core/object.ts";
import { WorkloadSimulator } from "../embedded/workloads/simulator.ts";
import { TestEnvoyGateway } from "../operator/testing/envoy.ts";
import { everything, OAUTH_CLIENT, tailnet } from "../operator/testing/objects.ts";
import { systemClock } from "../telemetry/clock.ts";
import { silentLog } from "../telemetry/log.ts";
import { LocalApis } from "./testing/local_apis.ts";
import { OtlpCollector } from "./testing/otlp.ts";

const TOKEN = "kubeconfig-token-canary";

/** Every credential that there is: given, minted, or got for it. */
async function credentials({ tailnet }: LocalApis): Promise<string[]> {
  const keys = (await tailnet.keys()).map(({ key }) => key);
  assert(keys.length > 0, "a key was minted");
  return [OAUTH_CLIENT.clientSecret, TOKEN, ...keys];
}

/** The credentials that a text holds, as they are or in base64. */
function hits(text: string, secrets: readonly string[]): string[] {
  // Tokens of Tailscale's API are nobody's to know; they begin as all of its credentials.
  return ["tskey-", ...secrets].filter((secret) =>
    text.includes(secret) || text.includes(encodeBase64(secret))
  );
}

async function texts(http: number): Promise<string> {
  const paths = ["/metrics", "/health", "/ready", "/healthz"];
  const bodies = await Promise.all(
    paths.flatMap((path) =>
      ["text/plain", "application/json"].map(async (accept) => {
        const response = await fetch(`http://127.0.0.1:${http}${path}`, { headers: { accept } });
        return await response.text();
      })
    ),
  );
  return bodies.join("\n");
}

/** Both APIs fail sometimes, and show the credential that they got while they do. */
function misbehave({ api, tailscale }: LocalApis): void {
  const said = `Authorization: Bearer ${TOKEN}, client ${OAUTH_CLIENT.clientSecret}`;
  tailscale.failNext({ status: 500, path: /devices/, body: said });
  const status = { kind: "Status", apiVersion: "v1", message: `no: ${said}`, code: 500 };
  api.failNext({
    match: (request) => request.method === "PATCH" && request.url.includes("/serviceaccounts/"),
    response: { status: 500, body: status },
  });
}

Deno.test("M60 M232 figure 31: no credential is in logs, Events, status, metrics, health or traces", async () => {
  await using collector = new OtlpCollector();
  await using apis = new LocalApis(OAUTH_CLIENT, TOKEN);
  const stop = new AbortController();
  const { client, tailnet: backend } = apis;
  const workloads = new WorkloadSimulator({
    client,
    clock: systemClock,
    tailnet: backend,
    log: silentLog,
    loginMs: 5,
  }).run(stop.signal);
  misbehave(apis);
  await apis.apply(...everything(), tailnet({ apiURL: apis.tailscaleURL }));
  const { program, grpc, http } = apis.run(collector.env);
  let pages = "";
  try {
    await program.wrote('"msg":"ready"');
    const envoyGateway = new TestEnvoyGateway(grpc);
    await envoyGateway.translate(["httproute/apps/wiki/rule/0"]);
    await envoyGateway.call(new TextEncoder().encode(`no protobuf ${OAUTH_CLIENT.clientSecret}`))
      .catch(() => {});
    envoyGateway.close();
    await apis.until("the proxy is in the tailnet", () => {
      const [object] = apis.api.objects(TailscaleEndpoints.resource) as TailscaleEndpoints[];
      return object?.status?.devices?.some(({ connected }) => connected);
    });
    pages = await texts(http);
  } finally {
    assertEquals(await program.end("SIGTERM"), 0, program.output);
    stop.abort();
    await workloads;
  }
  const secrets = await credentials(apis);
  const objects = [...KINDS.map(({ resource }) => resource), resources.EVENT]
    .flatMap((type) => apis.api.objects(type) as KubeObject[]);
  assert(objects.some(({ kind }) => kind === "Event"), "there are Events to look at");
  assertStringIncludes(program.output, '"level":"debug"');
  assertEquals(hits(program.output, secrets), []);
  assertEquals(hits(JSON.stringify(objects), secrets), []);
  assertEquals(hits(pages, secrets), []);
  assert(collector.spans.length > 0);
  assertEquals(hits(collector.bodies.join("\n"), secrets), []);
});
