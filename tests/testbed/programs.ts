/** The programs that the testbed is made of, and how each is built. */

export interface GoProgram {
  readonly name: string;
  /** Folder under `go/` that holds its module. */
  readonly module: string;
  /** What to build: a package of the module, or one of a dependency. */
  readonly package: string;
  /** Variables that the linker sets; `VERSION` stands for that of `versionOf`. */
  readonly stamp?: { readonly versionOf: string; readonly variables: readonly string[] };
}

const KUBERNETES = { versionOf: "k8s.io/kubernetes" };

/** In the order in which they are best built: the parts of a cluster first. */
export const GO_PROGRAMS: readonly GoProgram[] = [
  {
    name: "kube",
    module: "kube",
    package: ".",
    stamp: {
      ...KUBERNETES,
      variables: [
        "k8s.io/component-base/version.gitVersion=VERSION",
        "k8s.io/component-base/version.gitMajor=1",
        "k8s.io/component-base/version.gitMinor=MINOR",
        "k8s.io/client-go/pkg/version.gitVersion=VERSION",
      ],
    },
  },
  { name: "podlet", module: "kube", package: "./podlet" },
  { name: "web", module: "kube", package: "./web" },
  { name: "control", module: "tailnet", package: "./control" },
  { name: "tailscaled", module: "tailnet", package: "tailscale.com/cmd/tailscaled" },
  { name: "tailscale", module: "tailnet", package: "tailscale.com/cmd/tailscale" },
  { name: "containerboot", module: "tailnet", package: "tailscale.com/cmd/containerboot" },
  {
    name: "envoy-gateway",
    module: "gateway",
    package: "github.com/envoyproxy/gateway/cmd/envoy-gateway",
    stamp: {
      versionOf: "github.com/envoyproxy/gateway",
      variables: ["github.com/envoyproxy/gateway/internal/cmd/version.envoyGatewayVersion=VERSION"],
    },
  },
  { name: "hookclient", module: "gateway", package: "./hookclient" },
  { name: "coredns", module: "dns", package: "." },
];

/** Names under which `kube` is called. */
export const KUBE_PARTS = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-proxy",
  "kubectl",
] as const;

/** The Envoy that Envoy Gateway 1.9 deploys, as a wheel of PyPI. */
export const ENVOY_VERSION = "1.39.1";
