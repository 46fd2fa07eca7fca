/** kube-proxy for the Services' addresses, CoreDNS for their names, podlet for the pods. */
import { join } from "node:path";
import { FIRST_POD_IP, HOST_IP, KUBERNETES_IP, POD_CIDR, PORTS } from "./addresses.ts";
import { tryRun } from "./command.ts";
import type { Daemons } from "./daemons.ts";
import { binDir, program } from "./paths.ts";

/** What podlet runs for a container image. */
export interface ImageProgram {
  /** Part of the image's name. */
  readonly image: string;
  /** What stands for the image's entry point; absent: only the pod's `command`. */
  readonly exec?: readonly string[];
}

/** Programs for the images of the parts that the testbed has. */
export const IMAGES: readonly ImageProgram[] = [
  { image: "tailscale/tailscale:", exec: ["containerboot"] },
  { image: "envoyproxy/envoy:", exec: ["envoy"] },
  { image: "envoyproxy/gateway", exec: ["envoy-gateway"] },
  { image: "testbed/web", exec: ["web"] },
  { image: "testbed/shell", exec: ["sh"] },
];

export interface NodeOptions {
  readonly daemons: Daemons;
  readonly stateDir: string;
  readonly kubeconfig: string;
  readonly images?: readonly ImageProgram[];
  /** How long after a Secret's change a volume shows it, without an annotation. Default: 1000. */
  readonly volumeDelayMs?: number;
  /** Enforces NetworkPolicies. Default: true. */
  readonly networkPolicies?: boolean;
}

const answers = (url: string) => async () => (await tryRun(["curl", "-sSf", url])).code === 0;

/** Starts kube-proxy and CoreDNS. */
export async function startServices(options: NodeOptions): Promise<void> {
  const proxy = options.daemons.start("kube-proxy", [
    program("kube-proxy"),
    `--kubeconfig=${options.kubeconfig}`,
    "--hostname-override=testbed",
    "--proxy-mode=nftables",
    `--cluster-cidr=${POD_CIDR}`,
    `--healthz-bind-address=127.0.0.1:${PORTS.proxyHealth}`,
    `--metrics-bind-address=127.0.0.1:${PORTS.proxyMetrics}`,
    // The kernel's tables belong to the machine: leave them.
    "--conntrack-max-per-core=0",
    "--conntrack-tcp-timeout-established=0",
    "--conntrack-tcp-timeout-close-wait=0",
  ]);
  const corefile = join(options.stateDir, "Corefile");
  await Deno.writeTextFile(corefile, corefileText(options.kubeconfig));
  const dns = options.daemons.start("coredns", [program("coredns"), "-conf", corefile]);
  await dns.ready(answers(`http://127.0.0.1:${PORTS.dnsReady}/ready`));
  await proxy.ready(answers(`http://127.0.0.1:${PORTS.proxyHealth}/healthz`));
}

function corefileText(kubeconfig: string): string {
  return `.:53 {
  bind ${HOST_IP}
  errors
  ready 127.0.0.1:${PORTS.dnsReady}
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfig} testbed
    pods insecure
  }
}
`;
}

/** Starts podlet: from now on pods are bound and run. */
export async function startPodlet(options: NodeOptions): Promise<void> {
  const dir = join(options.stateDir, "pods");
  await Deno.mkdir(dir, { recursive: true });
  const images = join(options.stateDir, "images.json");
  const all = [...options.images ?? [], ...IMAGES];
  await Deno.writeTextFile(images, JSON.stringify(all));
  const podlet = options.daemons.start("podlet", [
    program("podlet"),
    `-kubeconfig=${options.kubeconfig}`,
    `-dir=${dir}`,
    `-bin=${binDir()}`,
    `-host=${HOST_IP}`,
    `-first-ip=${FIRST_POD_IP}`,
    `-api=${KUBERNETES_IP}:443`,
    `-dns=${HOST_IP}`,
    `-images=${images}`,
    `-volume-delay=${options.volumeDelayMs ?? 1000}ms`,
    `-network-policy=${options.networkPolicies ?? true}`,
  ]);
  await podlet.ready(() => podlet.log().includes("podlet ready"));
}
