/**
 * `standalone`: the operator on a cluster and a tailnet that exist in this
 * process alone, to see what it does before it is let near a real one.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { ListeningServer } from "../embedded/apiserver/mod.ts";
import { Operator } from "../operator/operator.ts";
import { systemClock } from "../telemetry/clock.ts";
import { createLog, type Log, LOG_LEVELS } from "../telemetry/log.ts";
import { CommandError } from "./errors.ts";
import { describeFlags, type Flag, oneOf, parseFlags, wholeNumber } from "./flags.ts";
import { SimulatedCluster } from "./standalone/cluster.ts";
import { readManifests } from "./standalone/manifests.ts";
import { Presenter } from "./standalone/presenter.ts";
import { runUntilStopped } from "./until_stopped.ts";
import { DEFAULT_PROXY_IMAGE, VERSION } from "./version.ts";

const FLAGS = {
  "extension-port": { help: "port of Envoy Gateway's hooks, on 127.0.0.1", default: "5005" },
  "api-port": { help: "port of the simulated cluster's API, on 127.0.0.1", default: "6440" },
  "http-port": { help: "port of metrics and health, on 127.0.0.1", default: "8080" },
  "log-level": { help: LOG_LEVELS.join(", "), env: "LOG_LEVEL", default: "warn" },
} satisfies Record<string, Flag>;

const EXAMPLE = new URL("../examples/quickstart/", import.meta.url);

/** Runs until Ctrl-C. */
export async function standaloneCommand(args: readonly string[]): Promise<number> {
  const { values, positionals, help } = parseFlags(args, FLAGS);
  if (help) {
    console.log(
      `usage: tailscale-gateway standalone [DIR] [OPTIONS]\n\n` +
        `DIR has the manifests to load; by default the quickstart.\n\n${describeFlags(FLAGS)}`,
    );
    return 0;
  }
  if (positionals.length > 1) throw new CommandError("give one folder at most", { exitCode: 2 });
  const folder = positionals[0] ?? fileURLToPath(EXAMPLE);
  const manifests = await readManifests(folder);
  const log = createLog({
    level: oneOf("log-level", values["log-level"], LOG_LEVELS),
    format: "text",
  });
  const cluster = new SimulatedCluster({ clock: systemClock, log });
  await cluster.apply(manifests);
  console.log(`tailscale-gateway ${VERSION}: a simulated cluster with ${folder}`);
  const ports = {
    extensionPort: wholeNumber("extension-port", values["extension-port"], 1),
    httpPort: wholeNumber("http-port", values["http-port"], 1),
    apiPort: wholeNumber("api-port", values["api-port"], 1),
  };
  const api = serveApi(cluster, ports.apiPort);
  try {
    await present(cluster, ports, log);
  } finally {
    await api.shutdown();
  }
  console.log("\nstopped");
  return 0;
}

interface Ports {
  readonly extensionPort: number;
  readonly httpPort: number;
  readonly apiPort: number;
}

/** Serves the cluster's API to `kubectl`. */
function serveApi(cluster: SimulatedCluster, port: number): ListeningServer {
  try {
    return cluster.api.serve({ port });
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(
      `cannot listen on 127.0.0.1:${port}: ${message}; choose another --api-port`,
      { cause },
    );
  }
}

/** Runs the operator on the cluster, and shows what it does. */
async function present(
  cluster: SimulatedCluster,
  { extensionPort, httpPort, apiPort }: Ports,
  log: Log,
): Promise<void> {
  const { client, fetch, identityToken } = cluster;
  const operator = new Operator({
    client,
    identityToken,
    fetch,
    clock: systemClock,
    log,
    version: VERSION,
    instance: "standalone",
    settings: { namespace: "tailscale", proxyImage: DEFAULT_PROXY_IMAGE },
    grpcAddress: `127.0.0.1:${extensionPort}`,
    httpAddress: `127.0.0.1:${httpPort}`,
  });
  const presenter = new Presenter({
    client,
    clock: systemClock,
    extensionPort,
    httpPort,
    apiPort,
    ready: () => operator.health().notReady.length === 0,
  });
  await runUntilStopped(operator, {
    hint: "see --extension-port and --http-port",
    companions: [(signal) => cluster.run(signal), (signal) => presenter.run(signal)],
  });
}
