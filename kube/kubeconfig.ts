/**
 * kubeconfig files, as kubectl reads them.
 *
 * Format: https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
 *
 * @module
 */
import { parse } from "yaml";
import type { KubeConfig } from "./config.ts";
import { KubeConfigError } from "./errors.ts";
import { readTextFile, tokenFromFile } from "./files.ts";

/** Which kubeconfig. */
export interface KubeconfigOptions {
  /** Default: `KUBECONFIG` (a list of files, the first to say something wins), else `~/.kube/config`. */
  path?: string;
  /** Default: the file's `current-context`. */
  context?: string;
  /** Default: the process's environment. */
  env?: (name: string) => string | undefined;
}

/** A mapping of a kubeconfig, and the folder that its relative paths start from. */
interface Entry {
  readonly name: string;
  readonly value: Record<string, unknown>;
  readonly folder: string;
  readonly file: string;
}

interface Merged {
  currentContext?: string;
  readonly clusters: Entry[];
  readonly users: Entry[];
  readonly contexts: Entry[];
  readonly files: readonly string[];
}

/**
 * Reads the kubeconfig: client certificate, token, token file, CA.
 *
 * @throws {KubeConfigError} when it can't be read, or asks for what is not supported
 */
export async function loadKubeconfig(options: KubeconfigOptions = {}): Promise<KubeConfig> {
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
  if (user) refuseUnsupportedUser(user);
  const namespace = text(context, "namespace");
  return {
    server: serverOf(cluster),
    caCerts: await caOf(cluster),
    ...(namespace ? { namespace } : {}),
    ...(user ? await identityOf(user) : {}),
    reload: () => loadKubeconfig(options),
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
    "proxy-url": "set HTTPS_PROXY instead",
  };
  for (const [field, advice] of Object.entries(reasons)) {
    if (cluster.value[field]) throw invalid(cluster, `${field} is not supported; ${advice}`);
  }
  return server.replace(/\/+$/, "");
}

async function caOf(cluster: Entry): Promise<string[]> {
  const ca = await pem(cluster, "certificate-authority");
  return ca === undefined ? [] : [ca];
}

function refuseUnsupportedUser(user: Entry): void {
  for (const field of ["exec", "auth-provider", "username", "as"]) {
    if (!user.value[field]) continue;
    throw invalid(
      user,
      `${field} is not supported yet; use a client certificate, a token or a tokenFile ` +
        "(kubectl create token makes one)",
    );
  }
}

async function identityOf(user: Entry): Promise<Pick<KubeConfig, "cert" | "key" | "token">> {
  const cert = await pem(user, "client-certificate");
  const key = await pem(user, "client-key");
  if ((cert === undefined) !== (key === undefined)) {
    throw invalid(user, "client-certificate and client-key go together, and one is missing");
  }
  const file = text(user, "tokenFile");
  const token = text(user, "token");
  return {
    ...(cert !== undefined && key !== undefined ? { cert, key } : {}),
    ...(file !== undefined
      ? { token: tokenFromFile(resolve(user, file), `tokenFile of user "${user.name}"`) }
      : token !== undefined
      ? { token: () => Promise.resolve(token) }
      : {}),
  };
}

/** PEM from `<field>-data` (base64) or from the file that `<field>` names. */
async function pem(entry: Entry, field: string): Promise<string | undefined> {
  const data = text(entry, `${field}-data`);
  const file = text(entry, field);
  if (data === undefined && file === undefined) return undefined;
  const content = data !== undefined
    ? decode(entry, `${field}-data`, data)
    : await readTextFile(resolve(entry, file!), `${field} of "${entry.name}" in ${entry.file}`);
  if (content.includes("-----BEGIN ")) return content;
  throw invalid(entry, `${field} is not PEM (no "-----BEGIN" line)`);
}

function decode(entry: Entry, field: string, data: string): string {
  try {
    return atob(data.replace(/\s+/g, ""));
  } catch (cause) {
    throw invalid(entry, `${field} is not base64`, cause);
  }
}

function resolve(entry: Entry, path: string): string {
  return /^(\/|[A-Za-z]:[\\/])/.test(path) ? path : entry.folder + path;
}

function text(entry: Entry, field: string): string | undefined {
  const value = entry.value[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function invalid(entry: Entry, problem: string, cause?: unknown): KubeConfigError {
  return new KubeConfigError(`${entry.file}, "${entry.name}": ${problem}`, { cause });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
