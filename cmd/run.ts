/**
 * `run`: the operator in a cluster, or with a kubeconfig.
 *
 * @module
 */
import { inClusterConfig, type KubeConfig, loadKubeconfig } from "../kube/config.ts";
import { KubeClient } from "../kube/client.ts";
import { KubeConfigError } from "../kube/errors.ts";
import { createTransport } from "../kube/transport.ts";
import { DEFAULT_MAX_MESSAGE_BYTES } from "../extension/registry.ts";
import { identityTokens } from "../operator/identity.ts";
import type { Election } from "../operator/leadership.ts";
import { Operator } from "../operator/operator.ts";
import { systemClock } from "../telemetry/clock.ts";
import { createLog, LOG_FORMATS, LOG_LEVELS } from "../telemetry/log.ts";
import { CommandError } from "./errors.ts";
import { describeFlags, type Flag, oneOf, type Parsed, parseFlags, wholeNumber } from "./flags.ts";
import { runUntilStopped } from "./until_stopped.ts";
import { DEFAULT_PROXY_IMAGE, VERSION } from "./version.ts";

const LEADER_ELECT = ["auto", "true", "false"] as const;
/** Name of the Lease, in the operator's namespace. */
const LEASE_NAME = "tailscale-gateway";

const FLAGS = {
  kubeconfig: { help: "path of a kubeconfig; in a cluster the pod's own account" },
  context: { help: "context of the kubeconfig; its current one" },
  namespace: {
    help: "the operator's namespace: where Secrets of TailscaleTailnets are by default",
    env: "OPERATOR_NAMESPACE",
    default: "tailscale-gateway-system",
  },
  "service-account": {
    help: "the operator's account, whose tokens prove it to tailnets that trust this cluster",
    env: "SERVICE_ACCOUNT",
    default: "tailscale-gateway",
  },
  "identity-token-file": {
    help: "a projected token of that account, for where none can be requested",
    env: "IDENTITY_TOKEN_FILE",
    default: "/var/run/secrets/tailscale/serviceaccount/token",
  },
  "leader-elect": {
    help: `${LEADER_ELECT.join(", ")}: of several replicas one acts; auto: in a cluster`,
    env: "LEADER_ELECT",
    default: "auto",
  },
  "proxy-image": {
    help: "image of the proxies where an object names none",
    env: "PROXY_IMAGE",
    default: DEFAULT_PROXY_IMAGE,
  },
  "extension-address": { help: "where to serve Envoy Gateway's hooks", default: "0.0.0.0:5005" },
  "http-address": { help: "where to serve metrics and health", default: "0.0.0.0:8080" },
  "max-message-bytes": {
    help: "largest message of Envoy Gateway",
    default: String(DEFAULT_MAX_MESSAGE_BYTES),
  },
  "log-level": { help: LOG_LEVELS.join(", "), env: "LOG_LEVEL", default: "info" },
  "log-format": { help: LOG_FORMATS.join(", "), env: "LOG_FORMAT", default: "json" },
} satisfies Record<string, Flag>;

type Values = Parsed<keyof typeof FLAGS>["values"];

/** Runs the operator until SIGTERM or SIGINT. */
export async function runCommand(args: readonly string[]): Promise<number> {
  const { values, help } = parseFlags(args, FLAGS);
  if (help) {
    console.log(`usage: tailscale-gateway run [OPTIONS]\n\n${describeFlags(FLAGS)}`);
    return 0;
  }
  const log = createLog({
    level: oneOf("log-level", values["log-level"], LOG_LEVELS),
    format: oneOf("log-format", values["log-format"], LOG_FORMATS),
  });
  const { config, inCluster } = await kubeConfig(values);
  const transport = createTransport(config, { userAgent: `tailscale-gateway/${VERSION}` });
  const client = new KubeClient(transport);
  const operator = new Operator({
    ...operatorOptions(values),
    ...electionOption(values, inCluster),
    client,
    identityToken: identityTokens({
      client,
      namespace: values.namespace ?? "",
      name: values["service-account"] ?? "",
      file: values["identity-token-file"] ?? "",
    }),
    clock: systemClock,
    log,
  });
  log.info("starting", { version: VERSION, server: config.server });
  try {
    await runUntilStopped(operator, { hint: "see --extension-address and --http-address" });
    log.info("stopped");
    return 0;
  } finally {
    transport.close();
  }
}

/** With a kubeconfig there is mostly one process, somebody's own, and maybe no such namespace. */
function electionOption(values: Values, inCluster: boolean): { election?: Election } {
  const wanted = oneOf("leader-elect", values["leader-elect"], LEADER_ELECT);
  if (wanted === "false" || (wanted === "auto" && !inCluster)) return {};
  // A pod's name outlives its process; two processes must never have the same identity.
  const identity = `${instanceName()}_${crypto.randomUUID().slice(0, 8)}`;
  return { election: { namespace: values.namespace ?? "", name: LEASE_NAME, identity } };
}

function instanceName(): string {
  return Deno.env.get("POD_NAME") ?? "tailscale-gateway";
}

function operatorOptions(values: Values) {
  return {
    version: VERSION,
    instance: instanceName(),
    settings: {
      namespace: values.namespace ?? "",
      proxyImage: values["proxy-image"] ?? "",
    },
    grpcAddress: values["extension-address"] ?? "",
    httpAddress: values["http-address"] ?? "",
    maxMessageBytes: wholeNumber("max-message-bytes", values["max-message-bytes"], 1),
  };
}

async function kubeConfig(
  { kubeconfig, context }: { kubeconfig?: string | undefined; context?: string | undefined },
): Promise<{ config: KubeConfig; inCluster: boolean }> {
  try {
    const config = kubeconfig || context ? undefined : await inClusterConfig();
    if (config) return { config, inCluster: true };
    const loaded = await loadKubeconfig({
      ...(kubeconfig ? { path: kubeconfig } : {}),
      ...(context ? { context } : {}),
    });
    return { config: loaded, inCluster: false };
  } catch (error) {
    if (error instanceof KubeConfigError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}
