/**
 * Credentials that a program prints, as cloud providers' kubeconfigs have them.
 *
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
 *
 * @module
 */
import { KubeConfigError } from "./errors.ts";
import type { Credential } from "./renewing_credential.ts";

/** `user.exec` of a kubeconfig. */
export interface ExecPlugin {
  /** The user's name, and the file that it stands in: for messages. */
  readonly where: string;
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  /** What to do where the program is not there. */
  readonly installHint?: string;
  /** What the plugin is told of the cluster (`provideClusterInfo`). */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

const NAME = "plugin";
const MAX_MESSAGE = 300;

/**
 * Runs the plugin once.
 *
 * @throws {KubeConfigError} when it may not run, fails, or prints no credential.
 */
export async function runPlugin(plugin: ExecPlugin): Promise<Credential> {
  await checkMayRun(plugin);
  // Loaded only here: whoever has an ordinary kubeconfig does not pay for it. One file of
  // the package, since the whole costs a second and 100 MB.
  const { ExecAuth } = await import("@kubernetes/client-node/dist/exec_auth.js");
  const { command, args, env } = plugin;
  const exec = {
    command,
    args,
    env: [...env, { name: "KUBERNETES_EXEC_INFO", value: info(plugin) }],
  };
  const auth = new ExecAuth();
  const shown: Shown = { headers: {} };
  try {
    await auth.applyAuthentication({ name: NAME, exec }, shown);
  } catch (cause) {
    throw failure(plugin, cause);
  }
  return credentialOf(plugin, shown, auth["tokenCache"][NAME]);
}

/** What client-node puts into the options of a request. */
interface Shown {
  headers: Record<string, string>;
  cert?: string;
  key?: string;
}

function credentialOf(
  plugin: ExecPlugin,
  { headers, cert, key }: Shown,
  printed: { status?: { expirationTimestamp?: unknown } } | undefined,
): Credential {
  const token = headers.Authorization?.replace(/^Bearer /, "");
  if (!token && !(cert && key)) throw problem(plugin, "printed neither token nor certificate");
  const expires = printed?.status?.expirationTimestamp;
  const expiresAt = typeof expires === "string" ? Date.parse(expires) : NaN;
  return {
    ...(token ? { token } : {}),
    ...(cert && key ? { cert, key } : {}),
    ...(Number.isNaN(expiresAt) ? {} : { expiresAt }),
  };
}

/** Deno would ask, or fail in the middle: better to say what is needed. */
async function checkMayRun(plugin: ExecPlugin): Promise<void> {
  const { command } = plugin;
  const { state } = await Deno.permissions.query({ name: "run", command });
  if (state === "granted") return;
  throw problem(plugin, mayNotRun(command, Deno.build.standalone));
}

/** Why a plugin may not run, and what to do; `standalone` is the compiled executable. */
export function mayNotRun(command: string, standalone: boolean): string {
  const otherwise = "use a client certificate or a token (kubectl create token)";
  return standalone
    ? "can't be run by this executable, which may start no program: run the sources with " +
      `deno run --allow-run=${command}, or ${otherwise}`
    : `may not run: add --allow-run=${command} to deno run (and no --deny-run), or ${otherwise}`;
}

function info({ apiVersion, cluster }: ExecPlugin): string {
  const spec = { interactive: false, ...(cluster ? { cluster } : {}) };
  return JSON.stringify({ apiVersion, kind: "ExecCredential", spec });
}

function failure(plugin: ExecPlugin, cause: unknown): KubeConfigError {
  if (isMissing(cause)) {
    const hint = plugin.installHint ? `. ${plugin.installHint}` : "";
    return problem(plugin, `is not there: install it, or check the PATH${hint}`, cause);
  }
  // What it printed instead of a credential may hold one all the same.
  const printed = cause instanceof SyntaxError || cause instanceof TypeError;
  if (printed) return problem(plugin, "printed no ExecCredential");
  const said = (cause instanceof Error ? cause.message : String(cause)).trim().replace(/\s+/g, " ");
  return problem(plugin, `failed: ${said.slice(0, MAX_MESSAGE) || "it said nothing"}`, cause);
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function problem({ where, command }: ExecPlugin, text: string, cause?: unknown): KubeConfigError {
  return new KubeConfigError(`${where}: the exec plugin ${command} ${text}`, { cause });
}
