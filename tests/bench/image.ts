/**
 * P12, P13, P15: what the image holds, run with its flags: its size, the time to
 * `/ready` and the memory then, in an empty cluster and in a full one. It is the bundle;
 * the executable needs a runtime that not every machine can have.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { NAMESPACE } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { EmbeddedApiServer } from "../../embedded/apiserver/mod.ts";
import { handlerTransport } from "../../kube/transport.ts";
import { KubeClient } from "../../kube/client.ts";
import { bundle } from "../../tools/build.ts";
import { BUNDLE_FLAGS, HEAP_FLAG } from "../../tools/permissions.ts";
import { endpointsObject } from "./cluster.ts";
import type { Figure, Outcome } from "./figures.ts";
import { freePort, kubeconfigOf, type Start, startProgram } from "./startup.ts";
import { median } from "./stats.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ROUNDS = 5, OBJECTS = 1000, NAMESPACES = 20;

/** In a folder of its own, as `/app` is. */
export async function measure(): Promise<Outcome> {
  const folder = await Deno.makeTempDir({ prefix: "tailscale-gateway-bench-" });
  try {
    const file = join(folder, "tailscale-gateway.js");
    const made = await bundle(ROOT, file);
    if (!made.ok) return { figures: [], skipped: [{ id: "P15", why: made.stderr.trim() }] };
    return {
      figures: [
        ...await sizes(file),
        ...await starts(folder, 0, { time: [1000, 300], memory: [150, 90] }),
        ...await starts(folder, OBJECTS, { time: [3000, 1000], memory: [200, 110] }),
      ],
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function sizes(file: string): Promise<Figure[]> {
  const [program, deno] = [await Deno.stat(file), await Deno.stat(Deno.execPath())];
  const goal = { good: 150, ahead: 95, of: "ours" } as const;
  const both = (program.size + deno.size) / 1e6;
  return [
    { id: "P15", what: "size of the bundle", unit: "MB", ours: program.size / 1e6 },
    { id: "P15", what: "size of Deno and the bundle", unit: "MB", ours: both, goal },
  ];
}

/** Good and ahead of each figure. */
interface Goals {
  readonly time: readonly [number, number];
  readonly memory: readonly [number, number];
}

async function starts(folder: string, count: number, goals: Goals): Promise<Figure[]> {
  const server = new EmbeddedApiServer();
  await fill(server, count);
  const api = server.serve();
  const all: Start[] = [];
  try {
    await Deno.writeTextFile(join(folder, "kubeconfig"), kubeconfigOf(api.url));
    for (let round = 0; round < ROUNDS; round++) {
      const http = freePort();
      const addresses = [`--extension-address=127.0.0.1:${freePort()}`];
      const args = ["run", "--kubeconfig=kubeconfig", ...addresses];
      const deno = [Deno.execPath(), "run", ...BUNDLE_FLAGS, HEAP_FLAG, "tailscale-gateway.js"];
      const command = [...deno, ...args, `--http-address=127.0.0.1:${http}`];
      all.push(await startProgram(command, { http, cwd: folder }));
    }
  } finally {
    await api.shutdown();
  }
  const what = `the bundle with its flags, ${count} TailscaleEndpoints`;
  const goalOf = ([good, ahead]: readonly [number, number]) => ({
    good,
    ahead,
    of: "ours" as const,
  });
  const ms = median(all.map(({ ms }) => ms)), rss = median(all.map(({ rss }) => rss)) / 1e6;
  return [
    { id: "P12", what: `start to /ready, ${what}`, unit: "ms", ours: ms, goal: goalOf(goals.time) },
    { id: "P13", what: `memory then, ${what}`, unit: "MB", ours: rss, goal: goalOf(goals.memory) },
  ];
}

async function fill(server: EmbeddedApiServer, count: number): Promise<void> {
  const client = new KubeClient(handlerTransport((request) => server.handle(request)));
  for (let index = 0; count > 0 && index < NAMESPACES; index++) {
    const metadata = { name: `team-${index}` };
    const object = { apiVersion: "v1", kind: "Namespace", metadata };
    await client.create(NAMESPACE, object);
  }
  for (let index = 0; index < count; index++) {
    await client.create(TailscaleEndpoints.resource, endpointsObject(index));
  }
}
