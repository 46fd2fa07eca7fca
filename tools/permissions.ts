/**
 * What the program may do: the flags that it runs with everywhere, as a task, as an
 * executable and in the image. Why these: docs/adr/0018-permissions.md.
 *
 * @module
 */

/**
 * Hosts that are never talked to. All others may be: the API server, Tailscale's API
 * (`spec.apiURL`) and the addresses to listen on are known only at run time. These hand
 * out the credentials of the machine to whoever asks, and a URL in an object must not
 * lead there. Deno looks at the address that a name resolves to.
 *
 * Link-local addresses are those of AWS, Azure, Google and Oracle; then Azure's host
 * agent, Alibaba's address, and IPv6 of AWS, Google and OpenStack.
 */
const DENIED_HOSTS = [
  "169.254.0.0/16",
  "168.63.129.16",
  "100.100.100.200",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  "[fe80::a9fe:a9fe]",
];

/** Folders that may be read: where it is started (kubeconfig, manifests), and a pod's account. */
export const READABLE: readonly string[] = [
  ".",
  "/var/run/secrets/kubernetes.io/serviceaccount",
  "/var/run/secrets/tailscale/serviceaccount", // its token for the tailnets' API
];

/** Environment variables that it sees; all others are undefined to it. */
export const ENVIRONMENT: readonly string[] = [
  "HOME",
  "IDENTITY_TOKEN_FILE",
  "KUBECONFIG",
  "KUBERNETES_SERVICE_HOST",
  "KUBERNETES_SERVICE_PORT",
  "LEADER_ELECT",
  "LOG_FORMAT",
  "LOG_LEVEL",
  "OPERATOR_NAMESPACE",
  "POD_NAME",
  "PROXY_IMAGE",
  "SERVICE_ACCOUNT",
];

/** Deno's permission flags of the program. */
export const PERMISSIONS: readonly string[] = permissions();

/** {@linkcode PERMISSIONS}, with more folders to read. */
export function permissions(readable: readonly string[] = []): string[] {
  return [
    "--no-prompt",
    "--allow-net",
    `--deny-net=${DENIED_HOSTS.join(",")}`,
    `--allow-read=${[...READABLE, ...readable].join(",")}`,
    `--allow-env=${ENVIRONMENT.join(",")}`,
    "--ignore-env",
    "--deny-write",
    "--deny-run",
    "--deny-ffi",
    "--deny-sys",
    "--deny-import",
    // Deno 2.9.3 lets code import from hosts in spite of --deny-import alone.
    "--no-remote",
  ];
}

/**
 * The heap ends below the memory that `deploy/install.yaml` lets the container have. V8
 * would else take its limit from the machine's memory, and collect too late.
 */
export const HEAP_FLAG = "--v8-flags=--max-old-space-size=384";

/**
 * How Deno runs the bundle, where there is no executable: nothing is looked for beside it,
 * nothing is fetched, and nothing is written.
 */
export const BUNDLE_FLAGS: readonly string[] = [
  ...PERMISSIONS,
  "--no-config",
  "--no-lock",
  "--no-npm",
  "--cached-only",
  "--no-code-cache",
];
