/** Envoy Gateway, run out of cluster as a process, in one of two ways. */
import { join } from "node:path";
import { HOST_IP, PORTS } from "./addresses.ts";
import { run, tryRun } from "./command.ts";
import type { Daemon, Daemons } from "./daemons.ts";
import { program } from "./paths.ts";
import { ENVOY_VERSION } from "./programs.ts";

const NAMESPACE = "envoy-gateway-system";

export interface EnvoyGatewayOptions {
  /**
   * `host`: Envoy runs as a child process and binds the listeners' ports here; a
   * Gateway gets no address. `kubernetes`: Envoy runs in a pod behind a Service,
   * as in a cluster; needs the part `pods`. Default: `kubernetes`.
   */
  readonly infra?: "host" | "kubernetes";
  /** The `extensionManager:` block, as YAML, put into Envoy Gateway's configuration. */
  readonly extensionConfigYaml?: string;
  /** Default: `info`. */
  readonly logLevel?: string;
}

interface Place {
  readonly daemons: Daemons;
  readonly stateDir: string;
  readonly kubeconfig: string;
}

/**
 * Starts Envoy Gateway and waits until it is ready. CRDs of kinds that its
 * extension configuration names must be there before.
 */
export async function startEnvoyGateway(
  place: Place,
  options: EnvoyGatewayOptions = {},
): Promise<Daemon> {
  const dir = join(place.stateDir, "gateway");
  const kubectl = [program("kubectl"), "--kubeconfig", place.kubeconfig];
  const prepared = await tryRun([...kubectl, "-n", NAMESPACE, "get", "secret", "envoy-gateway"]);
  if (prepared.code !== 0) await prepare(place, kubectl);
  for (const name of ["envoy-gateway", "envoy"]) {
    await secretToFiles([...kubectl, "-n", NAMESPACE], name, join(dir, "config", "certs", name));
  }
  if (options.infra === "host") await seedEnvoy(dir);
  else await run([...kubectl, "apply", "-f", "-"], { stdin: SERVICE });
  const config = join(dir, "envoy-gateway.yaml");
  await Deno.writeTextFile(config, configuration(dir, options));
  const daemon = place.daemons.start("envoy-gateway", [
    ..."unshare --mount -- bash -euc".split(" "),
    OWN_ROOT,
    ...["envoy-gateway", dir, program("envoy-gateway"), config],
  ], { env: { ...gatewayEnv(place, dir), ENVOY_VERSION } });
  const health = `http://127.0.0.1:${PORTS.gatewayHealth}/readyz`;
  await daemon.ready(async () => (await tryRun(["curl", "-sSf", health])).code === 0, {
    timeoutMs: 60_000,
  });
  return daemon;
}

const gatewayEnv = (place: Place, dir: string) => ({
  KUBECONFIG: place.kubeconfig,
  ENVOY_GATEWAY_NAMESPACE: NAMESPACE,
  HOME: dir,
});

/** Its namespace and its certificates. */
async function prepare(place: Place, kubectl: readonly string[]): Promise<void> {
  const manifest = `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${NAMESPACE}}\n`;
  await run([...kubectl, "apply", "-f", "-"], { stdin: manifest });
  const dir = join(place.stateDir, "gateway");
  await Deno.mkdir(dir, { recursive: true });
  await run([program("envoy-gateway"), "certgen", "--disable-topology-injector"], {
    env: gatewayEnv(place, dir),
  });
}

/**
 * Envoy Gateway reads /certs and writes under /var/lib: it gets a root of its
 * own that has both, and the machine's stays as it was.
 */
const OWN_ROOT = `
mount -t tmpfs none /mnt
for d in /*; do
  if [ -L "$d" ]; then cp -a "$d" "/mnt$d"
  elif [ -d "$d" ]; then
    mkdir "/mnt$d"
    [ "$d" = /mnt ] || [ "$d" = /certs ] || mount --rbind "$d" "/mnt$d"
  fi
done
mkdir -p /mnt/certs
mount --bind "$1/config/certs/envoy-gateway" /mnt/certs
mount -t tmpfs none /mnt/var/lib
exec chroot /mnt "$2" server --config-path "$3"
`;

async function secretToFiles(kubectl: readonly string[], name: string, dir: string) {
  const secret = JSON.parse(await run([...kubectl, "get", "secret", name, "-o", "json"]));
  await Deno.mkdir(dir, { recursive: true });
  for (const [file, data] of Object.entries(secret.data as Record<string, string>)) {
    await Deno.writeFile(join(dir, file), Uint8Array.fromBase64(data));
  }
}

/** Envoy where Envoy Gateway looks before it would download one. */
async function seedEnvoy(dir: string): Promise<void> {
  const bin = join(dir, "data", "envoy-versions", ENVOY_VERSION, "bin");
  await Deno.mkdir(bin, { recursive: true });
  await Deno.remove(join(bin, "envoy")).catch(() => {});
  await Deno.symlink(program("envoy"), join(bin, "envoy"));
}

/** The name by which Envoy's pods know the process that we run. */
const SERVICE = `apiVersion: v1
kind: Service
metadata: {name: envoy-gateway, namespace: ${NAMESPACE}}
spec: {ports: [{name: grpc, port: 18000}, {name: wasm, port: 18002}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata:
  name: envoy-gateway-1
  namespace: ${NAMESPACE}
  labels: {kubernetes.io/service-name: envoy-gateway}
addressType: IPv4
endpoints: [{addresses: ["${HOST_IP}"], conditions: {ready: true}}]
ports: [{name: grpc, port: 18000}, {name: wasm, port: 18002}]
`;

function configuration(dir: string, options: EnvoyGatewayOptions): string {
  return `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyGateway
gateway: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
logging: {level: {default: ${options.logLevel ?? "info"}}}
admin: {address: {host: 127.0.0.1, port: ${PORTS.gatewayAdmin}}}
extensionApis: {enableBackend: true, enableEnvoyPatchPolicy: true}
provider:
${options.infra === "host" ? hostProvider(dir) : KUBERNETES_PROVIDER}
${options.extensionConfigYaml ?? ""}
`;
}

const KUBERNETES_PROVIDER = `  type: Kubernetes
  kubernetes: {leaderElection: {disable: true}, proxyTopologyInjector: {disabled: true}}`;

const hostProvider = (dir: string) =>
  `  type: Custom
  custom:
    resource: {type: Kubernetes, kubernetes: {leaderElection: {disable: true}}}
    infrastructure:
      type: Host
      host:
        configHome: "${dir}/config"
        dataHome: "${dir}/data"
        stateHome: "${dir}/state"
        runtimeDir: "${dir}/run"`;

/**
 * A GatewayClass named `eg` with its EnvoyProxy, for the way in which Envoy
 * Gateway was started. Gateways of it get a ClusterIP with `kubernetes`.
 */
export function gatewayClass(infra: "host" | "kubernetes"): string {
  const provider = infra === "host"
    ? `{type: Host, host: {envoyVersion: "${ENVOY_VERSION}"}}`
    : `{type: Kubernetes, kubernetes: {envoyService: {type: ClusterIP}}}`;
  return `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: EnvoyProxy
metadata: {name: eg, namespace: ${NAMESPACE}}
spec: {provider: ${provider}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: eg}
spec:
  controllerName: gateway.envoyproxy.io/gatewayclass-controller
  parametersRef: {group: gateway.envoyproxy.io, kind: EnvoyProxy, name: eg, namespace: ${NAMESPACE}}
`;
}
