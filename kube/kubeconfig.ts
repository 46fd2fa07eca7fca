/**
 * kubeconfig files, as kubectl reads them.
 *
 * Format: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 *
 * @module
 */
import { parse } from "yaml";
import type { Clock } from "../core/clock.ts";
import { systemClock } from "../telemetry/clock.ts";
import type { KubeConfig } from "./config.ts";
import { KubeConfigError } from "./errors.ts";
import { readTextFile } from "./files.ts";
import { asArray, type Entry, invalid, isRecord, pem, text } from "./kubeconfig_entry.ts";
import { identityOf, type RenewableUsers } from "./kubeconfig_user.ts";

/** Which kubeconfig. */
export interface KubeconfigOptions {
  /** Default: `KUBECONFIG` (a list of files, the first to say something wins), else `~/.kube/config`. */
  path?: string;
  /** Default: the file's `current-context`. */
  context?: string;
  /** Default: the process's environment. */
  env?: (name: string) => string | undefined;
  /** Default: the machine's. */
  clock?: Pick<Clock, "now">;
}

interface Merged {
  currentContext?: string;
  readonly clusters: Entry[];
  readonly users: Entry[];
  readonly contexts: Entry[];
  readonly files: readonly string[];
}

/**
 * Reads the kubeconfig: client certificate, token, token file, name and password, exec
 * plugin, OIDC, impersonation; CA, proxy.
 *
 * @throws {KubeConfigError} when it can't be read, or asks for what is not supported
 */
export function loadKubeconfig(options: KubeconfigOptions = {}): Promise<KubeConfig> {
  return load(options, { clock: options.clock ?? systemClock, known: new Map() });
}

async function load(
  options: KubeconfigOptions,
  users: RenewableUsers,
  refused = false,
): Promise<KubeConfig> {
  const merged = await readAll(kubeconfigPaths(options), options.path === undefined);
  const where = merged.files.join(", ");
  const name = options.context ?? merged.currentContext;
  if (!name) {
    throw new KubeConfigError(`${where} has no current-context: name one with --context`);
  }
  const context = find(merged.contexts, "context", name, where);
  const cluster = find(merged.clusters, "cluster", text(context, "cluster") ?? "", where);
  const userName = text(context, "user");
  const user = userName ? find(merged.users, "user", userName, where) : undefined;
  const namespace = text(context, "namespace");
  const server = serverOf(cluster);
  const caCerts = await caOf(cluster);
  const ca = caCerts[0];
  const info = { server, ...(ca ? { "certificate-authority-data": btoa(ca) } : {}) };
  return {
    server,
    caCerts,
    ...proxyOf(cluster),
    ...(namespace ? { namespace } : {}),
    ...(user ? await identityOf(user, users, { refused, cluster: info }) : {}),
    reload: (again) => load(options, users, again),
  };
}

function kubeconfigPaths(options: KubeconfigOptions): string[] {
  if (options.path !== undefined) return [options.path];
  const env = options.env ?? ((name: string) => Deno.env.get(name));
  const separator = Deno.build.os === "windows" ? ";" : ":";
  const listed = (env("KUBECONFIG") ?? "").split(separator).filter((path) => path !== "");
  if (listed.length > 0) return listed;
  const home = env("HOME") ?? env("USERPROFILE");
  if (home) return [`${home}/.kube/config`];
  throw new KubeConfigError(
    "no kubeconfig: neither KUBECONFIG nor HOME is set; name a file with --kubeconfig",
  );
}

async function readAll(paths: readonly string[], tolerant: boolean): Promise<Merged> {
  const merged: Merged = { clusters: [], users: [], contexts: [], files: paths };
  let found = 0;
  for (const path of paths) {
    // kubectl passes over files of a KUBECONFIG list that are not there.
    if (tolerant && paths.length > 1 && !await exists(path)) continue;
    const hint = "name a kubeconfig with --kubeconfig or KUBECONFIG";
    addFile(merged, path, await readTextFile(path, hint));
    found++;
  }
  if (found > 0) return merged;
  throw new KubeConfigError(`no kubeconfig: none of ${paths.join(", ")} is there`);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw new KubeConfigError(`${path} can't be read: check its permissions`, { cause: error });
  }
}

function addFile(merged: Merged, path: string, content: string): void {
  let root: unknown;
  try {
    root = parse(content);
  } catch (cause) {
    throw new KubeConfigError(`${path} is not valid YAML: ${(cause as Error).message}`, { cause });
  }
  if (!isRecord(root)) throw new KubeConfigError(`${path} is not a kubeconfig: it has no fields`);
  const current = root["current-context"];
  if (typeof current === "string" && current !== "") merged.currentContext ??= current;
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : "";
  for (
    const [list, field] of [["clusters", "cluster"], ["users", "user"], ["contexts", "context"]]
  ) {
    const target = merged[list as "clusters" | "users" | "contexts"];
    for (const item of asArray(root[list!])) {
      const name = isRecord(item) ? item.name : undefined;
      const value = isRecord(item) ? item[field!] : undefined;
      if (typeof name !== "string" || target.some((entry) => entry.name === name)) continue;
      target.push({ name, value: isRecord(value) ? value : {}, folder, file: path });
    }
  }
}

function find(entries: readonly Entry[], what: string, name: string, where: string): Entry {
  const entry = entries.find((e) => e.name === name);
  if (entry) return entry;
  const known = entries.map((e) => e.name).join(", ") || "none";
  throw new KubeConfigError(`${where} has no ${what} "${name}"; it has: ${known}`);
}

function serverOf(cluster: Entry): string {
  const server = text(cluster, "server") ?? "";
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) {
    throw invalid(cluster, `server "${server}" is not an http(s) URL`);
  }
  const reasons: Record<string, string> = {
    "insecure-skip-tls-verify": "set certificate-authority instead",
    "tls-server-name": "use a server URL whose host the certificate names",
  };
  for (const [field, advice] of Object.entries(reasons)) {
    if (cluster.value[field]) throw invalid(cluster, `${field} is not supported; ${advice}`);
  }
  return server.replace(/\/+$/, "");
}

/** A proxy, with the name and the password in its URL. */
function proxyOf(cluster: Entry): Pick<KubeConfig, "proxy"> {
  const value = text(cluster, "proxy-url");
  if (value === undefined) return {};
  const parsed = /^(https?|socks5h?):\/\//.test(value) ? URL.parse(value) : null;
  if (!parsed) throw invalid(cluster, "proxy-url is no http, https or socks5 URL");
  const [username, password] = [parsed.username, parsed.password].map(decodeURIComponent);
  const url = `${parsed.protocol}//${parsed.host}`;
  return {
    proxy: { url, ...(username ? { basicAuth: { username, password: password ?? "" } } : {}) },
  };
}

async function caOf(cluster: Entry): Promise<string[]> {
  const ca = await pem(cluster, "certificate-authority");
  return ca === undefined ? [] : [ca];
}
