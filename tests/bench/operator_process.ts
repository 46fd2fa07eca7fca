/**
 * The operator as a process, on an API server and a Tailscale API at local
 * addresses: `operator_process.ts OPTIONS`. Prints a line when it serves, and
 * answers each line of stdin with what it has done and used until then.
 *
 * @module
 */
import { KubeClient } from "../../kube/client.ts";
import { createTransport, type Transport } from "../../kube/transport.ts";
import { Operator } from "../../operator/operator.ts";
import { RateLimiter } from "../../tailscale/limiter.ts";
import { systemClock } from "../../telemetry/clock.ts";
import { createLog } from "../../telemetry/log.ts";
import { answerLines } from "./child.ts";

/** The argument, as JSON. */
export interface OperatorProcessOptions {
  /** URL of the API server. */
  readonly server: string;
  /** URL that stands in for Tailscale's API. */
  readonly tailscale: string;
  /** What each request to the API server waits beforehand. */
  readonly latencyMs: number;
}

/** What it has done and used. */
export interface OperatorUsage {
  /** Requests that change something in the API server. */
  readonly writes: number;
  readonly rss: number;
  /** The longest time that nothing else could run, since the last line. */
  readonly stallMs: number;
}

let writes = 0, stallMs = 0;

function slow(transport: Transport, latencyMs: number): Transport {
  return {
    async request(path, init) {
      if (init?.method && init.method !== "GET") writes++;
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
      return await transport.request(path, init);
    },
    close: () => transport.close(),
  };
}

function watchStalls(): void {
  const everyMs = 5;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    stallMs = Math.max(stallMs, now - last - everyMs);
    last = now;
  }, everyMs);
  Deno.unrefTimer(timer);
}

function usage(): OperatorUsage {
  const result = { writes, stallMs, rss: Deno.memoryUsage().rss };
  stallMs = 0;
  return result;
}

if (import.meta.main) {
  const options: OperatorProcessOptions = JSON.parse(Deno.args[0] ?? "{}");
  // What Tailscale lets one tailnet have (1 call per second) is not what is measured.
  RateLimiter.prototype.acquire = () => Promise.resolve();
  const stop = new AbortController();
  const transport = createTransport({ server: options.server, caCerts: [] });
  const operator = new Operator({
    client: new KubeClient(slow(transport, options.latencyMs)),
    clock: systemClock,
    log: createLog({ level: "error", format: "text" }),
    version: "0.0.0",
    instance: "bench",
    settings: { namespace: "tailscale", proxyImage: "image" },
    grpcAddress: "127.0.0.1:0",
    httpAddress: "127.0.0.1:0",
    fetch: (input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      return fetch(options.tailscale + pathname + search, init);
    },
  });
  const running = operator.run(stop.signal);
  while (operator.health().notReady.length > 0) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  console.log("ready");
  watchStalls();
  await answerLines(usage);
  stop.abort();
  await running;
  transport.close();
}
