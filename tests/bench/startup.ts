/**
 * P12, P13: from starting the program to `/ready`, and its memory then.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EmbeddedApiServer } from "../../embedded/apiserver/mod.ts";
import type { Figure, Outcome } from "./figures.ts";
import { median, ratioOf } from "./stats.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const ROUNDS = 5, PATIENCE_MS = 30_000, GRACE_MS = 10_000;

/** How a start went: the time to `/ready`, and the memory then. */
export interface Start {
  readonly ms: number;
  readonly rss: number;
}

/** The modes in turns, beside a Deno that has nothing to do. */
export async function measure(): Promise<Outcome> {
  const api = new EmbeddedApiServer().serve();
  const kubeconfig = await Deno.makeTempFile({ prefix: "tailscale-gateway-bench-" });
  await Deno.writeTextFile(kubeconfig, kubeconfigOf(api.url));
  const nothing: number[] = [], standalone: Start[] = [], run: Start[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      nothing.push(await startNothing());
      standalone.push(
        await start((grpc, http) => {
          const ports = ["--extension-port", grpc, "--http-port", http];
          return ["standalone", ...ports, "--api-port", String(freePort())];
        }),
      );
      run.push(
        await start((grpc, http) => {
          const addresses = ["--extension-address", "127.0.0.1:" + grpc, "--http-address"];
          return ["run", "--kubeconfig", kubeconfig, ...addresses, "127.0.0.1:" + http];
        }),
      );
    }
  } finally {
    await Deno.remove(kubeconfig);
    await api.shutdown();
  }
  return {
    figures: [
      ...figuresOf("main.ts run, empty cluster", run, nothing),
      ...figuresOf("main.ts standalone, quickstart", standalone, nothing),
    ],
  };
}

function figuresOf(what: string, starts: readonly Start[], nothing: readonly number[]): Figure[] {
  const times = starts.map(({ ms }) => ms);
  return [
    {
      id: "P12",
      what: `start to /ready, ${what}`,
      unit: "ms",
      ours: median(times),
      reference: { what: "Deno, empty script", value: median(nothing) },
      ratio: ratioOf(times, nothing),
      goal: { good: 1000, ahead: 300, of: "ours" },
    },
    {
      id: "P13",
      what: `memory (RSS) then, ${what}`,
      unit: "MB",
      ours: median(starts.map(({ rss }) => rss)) / 1e6,
      goal: { good: 150, ahead: 90, of: "ours" },
    },
  ];
}

async function startNothing(): Promise<number> {
  const began = performance.now();
  await new Deno.Command(Deno.execPath(), { args: ["eval", ""] }).output();
  return performance.now() - began;
}

/** Starts `main.ts` on two free ports; asks until it is ready, then ends it. */
async function start(argsOf: (grpc: string, http: string) => string[]): Promise<Start> {
  const [grpc, http] = [freePort(), freePort()];
  const args = ["run", "-A", "--no-check", join(ROOT, "main.ts"), ...argsOf(grpc, http)];
  return await startProgram([Deno.execPath(), ...args], { http, cwd: ROOT });
}

/** Starts a program; asks until it is ready at that port, then ends it. */
export async function startProgram(
  [name = "", ...args]: readonly string[],
  { http, cwd }: { http: string; cwd: string },
): Promise<Start> {
  const began = performance.now();
  const child = new Deno.Command(name, {
    args,
    cwd,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    while (!await isReady(http)) {
      if (performance.now() - began > PATIENCE_MS) {
        throw new Error(`${args.at(-1)}: not ready after ${PATIENCE_MS / 1000} s`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return { ms: performance.now() - began, rss: await rssOf(child.pid) };
  } finally {
    await end(child);
  }
}

/** Ends it, by force if it does not heed. */
async function end(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(() => {
    console.error(`the program did not end within ${GRACE_MS / 1000} s of SIGTERM`);
    child.kill("SIGKILL");
  }, GRACE_MS);
  await child.status;
  clearTimeout(timer);
}

async function isReady(port: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(1_000);
    const response = await fetch(`http://127.0.0.1:${port}/ready`, { signal });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false; // not listening yet, or too busy to answer
  }
}

/** Linux tells the memory of any process. */
async function rssOf(pid: number): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}

/** A port that was free a moment ago. */
export function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

export function kubeconfigOf(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "bench", cluster: { server } }],
    users: [{ name: "bench", user: { token: "bench" } }],
    contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
    "current-context": "bench",
  });
}
