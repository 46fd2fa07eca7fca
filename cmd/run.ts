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
import { Operator } from "../operator/operator.ts";
import { systemClock } from "../telemetry/clock.ts";
import { createLog, LOG_FORMATS, LOG_LEVELS } from "../telemetry/log.ts";
import { CommandError } from "./errors.ts";
import { describeFlags, type Flag, oneOf, type Parsed, parseFlags, wholeNumber } from "./flags.ts";
import { runUntilStopped } from "./until_stopped.ts";
import { DEFAULT_PROXY_IMAGE, VERSION } from "./version.ts";

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
  const config = await kubeConfig(values);
  const transport = createTransport(config, { userAgent: `tailscale-gateway/${VERSION}` });
  const client = new KubeClient(transport);
  const operator = new Operator({
    ...operatorOptions(values),
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
    await runUntilStopped(operator);
    log.info("stopped");
    return 0;
  } finally {
    transport.close();
  }
}

function operatorOptions(values: Values) {
  return {
    version: VERSION,
    instance: Deno.env.get("POD_NAME") ?? "tailscale-gateway",
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
): Promise<KubeConfig> {
  try {
    const inCluster = kubeconfig || context ? undefined : await inClusterConfig();
    return inCluster ?? await loadKubeconfig({
      ...(kubeconfig ? { path: kubeconfig } : {}),
      ...(context ? { context } : {}),
    });
  } catch (error) {
    if (error instanceof KubeConfigError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}
