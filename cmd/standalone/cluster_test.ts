import { assertEquals } from "@std/assert";
import type { KubeObject } from "../../core/object.ts";
import { systemClock } from "../../telemetry/clock.ts";
import { createLog } from "../../telemetry/log.ts";
import { SimulatedCluster } from "./cluster.ts";

Deno.test("a Secret without a secret makes its client one that tokens of the operator's account prove", async () => {
  const cluster = new SimulatedCluster({ clock: systemClock, log: createLog({ write() {} }) });
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
