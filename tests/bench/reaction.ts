/**
 * P6: from a change in the API server to the operator's first write because of it.
 * Both ways through loopback count, and so does the simulated server's own work.
 *
 * @module
 */
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { BenchCluster, endpointsObject, preciseClock } from "./cluster.ts";
import type { Outcome } from "./figures.ts";
import { quantile } from "./stats.ts";

const WARM_UP = 20, CHANGES = 150;

/** One object, changed again and again while nothing else happens. */
export async function measure(): Promise<Outcome> {
  await using cluster = await BenchCluster.start();
  await using _operator = await cluster.startOperator(0);
  await cluster.create([endpointsObject(0)]);
  await cluster.ready(1);
  await quiet(cluster);
  const times: number[] = [];
  for (let i = 0; i < WARM_UP + CHANGES; i++) {
    const took = await change(cluster, 9000 + i % 100);
    if (i >= WARM_UP) times.push(took);
    await quiet(cluster);
  }
  const what = (name: string) => `event to write, 1 object, ${name} of ${CHANGES}`;
  const figure = (name: string, share: number, good: number, ahead: number) => ({
    id: "P6",
    what: what(name),
    unit: "ms",
    ours: quantile(times, share),
    goal: { good, ahead, of: "ours" } as const,
  });
  return { figures: [figure("p50", 0.5, 50, 5), figure("p99", 0.99, 250, 25)] };
}

async function change(cluster: BenchCluster, port: number): Promise<number> {
  const { api, client } = cluster.simulated;
  const { metadata } = endpointsObject(0);
  api.requests.length = 0;
  await client.patch(
    TailscaleEndpoints.resource,
    metadata.name,
    metadata.namespace,
    { spec: { endpoints: [{ name: "host", tailscaleIP: "100.64.0.10", port }] } },
    { contentType: "application/merge-patch+json" },
  );
  const changed = preciseClock.now();
  for (;;) {
    const write = api.requests.find(({ path }) => path.includes("fieldManager=tailscale-gateway"));
    if (write) return Math.max(0, write.at - changed);
    await pause(1);
  }
}

/** Waits until nothing has been asked for a while. */
async function quiet({ simulated: { api } }: BenchCluster): Promise<void> {
  let seen = -1;
  while (seen !== api.requests.length) {
    seen = api.requests.length;
    await pause(15);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
