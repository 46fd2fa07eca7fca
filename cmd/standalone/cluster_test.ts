import { assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../../core/clock_fake.ts";
import type { KubeObject } from "../../core/object.ts";
import { silentLog } from "../../telemetry/log.ts";
import { CommandError } from "../errors.ts";
import { SimulatedCluster } from "./cluster.ts";

const SECRET = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "oauth", namespace: "default" },
  stringData: { client_id: "k1", client_secret: "tskey-client-k1-x" },
} as KubeObject;
const ENDPOINTS = {
  apiVersion: "gateway.tailscale.com/v1alpha1",
  kind: "TailscaleEndpoints",
  metadata: { name: "wiki", namespace: "default" },
  spec: {
    tailnet: "corp",
    proxy: { connectionType: "egress" },
    endpoints: [{ name: "wiki", tailscaleIP: "100.64.0.10", port: 8080 }],
  },
} as KubeObject;

const apply = (cluster: SimulatedCluster, ...objects: KubeObject[]) =>
  cluster.apply(objects.map((object) => ({ file: "test.yaml", object })));

async function tokenStatus(cluster: SimulatedCluster): Promise<number> {
  const body = new URLSearchParams({ client_id: "k1", client_secret: "tskey-client-k1-x" });
  const url = "https://api.tailscale.com/api/v2/oauth/token";
  const response = await cluster.fetch(url, { method: "POST", body });
  await response.body?.cancel();
  return response.status;
}

Deno.test("D6 hosts and OAuth clients are those of the tailnet as soon as an object names them", async () => {
  const cluster = new SimulatedCluster({ clock: new FakeClock(), log: silentLog });
  assertEquals(await tokenStatus(cluster), 401);
  await apply(cluster, SECRET, ENDPOINTS);
  assertEquals(await tokenStatus(cluster), 200);
  await apply(cluster, { ...ENDPOINTS, metadata: { name: "again", namespace: "default" } });
  assertEquals(cluster.tailnet.hosts().map(({ node, port }) => [node.addresses, port]), [
    [["100.64.0.10"], 8080],
  ]);
});

Deno.test("a manifest of a kind that is not simulated is refused with its file", async () => {
  const cluster = new SimulatedCluster({ clock: new FakeClock(), log: silentLog });
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "a" } };
  await assertRejects(() => apply(cluster, job), CommandError, "test.yaml: Job (batch/v1)");
});

Deno.test("a Secret without a secret makes its client one that tokens of the operator's account prove", async () => {
  const cluster = new SimulatedCluster({ clock: new FakeClock(), log: silentLog });
  const secret: KubeObject & { stringData: Record<string, string> } = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "identity", namespace: "default" },
    stringData: { client_id: "kFederated", audience: "aud" },
  };
  await cluster.apply([{ file: "secret.yaml", object: secret }]);
  const exchange = async (audience: string) => {
    const jwt = await cluster.identityToken(audience);
    const body = new URLSearchParams({ client_id: "kFederated", jwt });
    const url = "https://api.tailscale.com/api/v2/oauth/token-exchange";
    return (await cluster.fetch(url, { method: "POST", body })).status;
  };
  assertEquals([await exchange("aud"), await exchange("another")], [200, 401]);
});
