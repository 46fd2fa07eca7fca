/**
 * How to reach the API server, and as whom.
 *
 * @module
 */
import { loadKubeconfig } from "./kubeconfig.ts";
import { readTextFile, tokenFromFile } from "./files.ts";

export { loadKubeconfig } from "./kubeconfig.ts";

/** Where the API server is, and the credential for it. */
export interface KubeConfig {
  /** `https://host:port`, without a slash at the end. */
  readonly server: string;
  /** The namespace that the configuration names. */
  readonly namespace?: string;
  /** PEM; trusted beside the system's. */
  readonly caCerts: readonly string[];
  /** Client certificate and its key, PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** The bearer token of the next request; `refused` is one that was just answered 401. */
  readonly token?: (refused?: string) => Promise<string>;
  /** Sent with each request, such as those of impersonation. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The proxy on the way to the server. */
  readonly proxy?: { readonly url: string; readonly basicAuth?: BasicAuth };
  /**
   * The same configuration from its files as they are now.
   *
   * @param refused The credential was answered 401: one that can be renewed is.
   */
  readonly reload?: (refused?: boolean) => Promise<KubeConfig>;
}

/** A name and a password. */
export interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

/** Where {@linkcode inClusterConfig} looks. */
export interface InClusterOptions {
  /** The service account's folder. Default: where the kubelet mounts it. */
  folder?: string;
  /** Default: the process's environment. */
  env?: (name: string) => string | undefined;
}

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The configuration of a pod's service account; undefined outside a cluster.
 *
 * @throws {KubeConfigError} inside a cluster, when the service account's files can't be read
 */
export async function inClusterConfig(
  options: InClusterOptions = {},
): Promise<KubeConfig | undefined> {
  const env = options.env ?? ((name: string) => Deno.env.get(name));
  const host = env("KUBERNETES_SERVICE_HOST");
  const port = env("KUBERNETES_SERVICE_PORT");
  if (!host || !port) return undefined;
  const folder = options.folder ?? SERVICE_ACCOUNT;
  const hint = "mount a service account token (automountServiceAccountToken)";
  const ca = await readTextFile(`${folder}/ca.crt`, hint);
  const token = tokenFromFile(`${folder}/token`, hint);
  await token();
  const namespace = await readTextFile(`${folder}/namespace`, hint);
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: namespace.trim(),
    caCerts: [ca],
    token,
    reload: async () => (await inClusterConfig(options))!,
  };
}

/**
 * The configuration that fits: the kubeconfig when `path` or `context` is given, else the
 * pod's service account, else the user's kubeconfig.
 *
 * @throws {KubeConfigError} when there is none that can be used
 */
export async function findConfig(
  options: { path?: string; context?: string } = {},
): Promise<KubeConfig> {
  const explicit = options.path !== undefined || options.context !== undefined;
  const inCluster = explicit ? undefined : await inClusterConfig();
  return inCluster ?? await loadKubeconfig(options);
}
