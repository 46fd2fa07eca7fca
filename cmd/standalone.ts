/**
 * `standalone`: the operator on a cluster and a tailnet that exist in this
 * process alone, to see what it does before it is let near a real one.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { ListenError as GrpcListenError } from "../extension/server.ts";
import { Operator } from "../operator/operator.ts";
import { systemClock } from "../telemetry/clock.ts";
import { ListenError } from "../telemetry/http.ts";
import { createLog, LOG_LEVELS } from "../telemetry/log.ts";
import { CommandError } from "./errors.ts";
import { describeFlags, type Flag, oneOf, parseFlags, wholeNumber } from "./flags.ts";
import { stopSignal } from "./signals.ts";
import { SimulatedCluster } from "./standalone/cluster.ts";
import { readManifests } from "./standalone/manifests.ts";
import { Presenter } from "./standalone/presenter.ts";
import { DEFAULT_PROXY_IMAGE, VERSION } from "./version.ts";

const FLAGS = {
  "extension-port": { help: "port of Envoy Gateway's hooks, on 127.0.0.1", default: "5005" },
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
  const port = (flag: "extension-port" | "http-port") => wholeNumber(flag, values[flag], 1);
  const cluster = new SimulatedCluster({ clock: systemClock, log, manifests });
  await cluster.apply(manifests);
  const operator = new Operator({
    client: cluster.client,
    clock: systemClock,
    log,
    version: VERSION,
    instance: "standalone",
    settings: { namespace: "tailscale", proxyImage: DEFAULT_PROXY_IMAGE },
    grpcAddress: `127.0.0.1:${port("extension-port")}`,
    httpAddress: `127.0.0.1:${port("http-port")}`,
    fetch: cluster.fetch,
  });
  const presenter = new Presenter({
    client: cluster.client,
    clock: systemClock,
    extensionPort: port("extension-port"),
    httpPort: port("http-port"),
    ready: () => operator.health().notReady.length === 0,
  });
  console.log(`tailscale-gateway ${VERSION}: a simulated cluster with ${folder}`);
  return await runAll({ operator, cluster, presenter });
}

async function runAll(
  { operator, cluster, presenter }: {
    operator: Operator;
    cluster: SimulatedCluster;
    presenter: Presenter;
  },
): Promise<number> {
  const { signal, release } = stopSignal();
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  signal.addEventListener("abort", onSignal, { once: true });
  const others = Promise.all([cluster.run(stop.signal), presenter.run(stop.signal)]);
  try {
    await operator.run(stop.signal);
    console.log("\nstopped");
    return 0;
  } catch (error) {
    if (!(error instanceof ListenError) && !(error instanceof GrpcListenError)) throw error;
    throw new CommandError(
      `${error.message} (see --extension-port and --http-port)`,
      { cause: error },
    );
  } finally {
    stop.abort();
    await others;
    release();
  }
}
