/**
 * Who a kubeconfig says that we are.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { KubeConfig } from "./config.ts";
import { type ExecPlugin, runPlugin } from "./exec_plugin.ts";
import { tokenFromFile } from "./files.ts";
import { impersonationHeaders } from "./impersonation.ts";
import { asArray, type Entry, invalid, isRecord, pem, resolve, text } from "./kubeconfig_entry.ts";
import { OidcTokens } from "./oidc.ts";
import { RenewingCredential } from "./renewing_credential.ts";

/** What a user is to the API server. */
export type Identity = Pick<KubeConfig, "cert" | "key" | "token" | "headers">;

/** Credentials that others hand out, by what the kubeconfig says of them; kept when it is read again. */
export interface RenewableUsers {
  readonly clock: Pick<Clock, "now">;
  readonly known: Map<string, RenewingCredential>;
}

/** What a user's credential may depend on. */
export interface IdentityContext {
  /** The API server answered 401 to the credential before. */
  readonly refused: boolean;
  /** What exec plugins may be told. */
  readonly cluster: Readonly<Record<string, unknown>>;
}

/**
 * The user's identity. What it says first counts, in the order of kubectl: certificate,
 * token file, token, plugin, provider, name and password.
 *
 * @throws {KubeConfigError} when it can't be used
 */
export async function identityOf(
  user: Entry,
  users: RenewableUsers,
  context: IdentityContext,
): Promise<Identity> {
  const cert = await pem(user, "client-certificate");
  const key = await pem(user, "client-key");
  if ((cert === undefined) !== (key === undefined)) {
    throw invalid(user, "client-certificate and client-key go together, and one is missing");
  }
  const shown = tokenOf(user) ?? await renewable(user, users, context) ?? {};
  const headers = { ...passwordOf(user), ...impersonationOf(user) };
  return {
    ...(cert !== undefined && key !== undefined ? { cert, key } : {}),
    ...shown,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
  };
}

function tokenOf(user: Entry): Pick<KubeConfig, "token"> | undefined {
  const file = text(user, "tokenFile");
  const token = text(user, "token");
  if (file !== undefined) {
    return { token: tokenFromFile(resolve(user, file), `tokenFile of user "${user.name}"`) };
  }
  return token === undefined ? undefined : { token: () => Promise.resolve(token) };
}

/** Basic authentication: the API server has none since Kubernetes 1.19, but proxies before it may. */
function passwordOf(user: Entry): Record<string, string> {
  const [name, password] = [text(user, "username"), text(user, "password")];
  if (name === undefined && password === undefined) return {};
  const bytes = new TextEncoder().encode(`${name ?? ""}:${password ?? ""}`);
  return { authorization: `Basic ${bytes.toBase64()}` };
}

function impersonationOf(user: Entry): Record<string, string> {
  try {
    return impersonationHeaders(user.value);
  } catch (cause) {
    throw invalid(user, (cause as Error).message, cause);
  }
}

/** The identity that a plugin or a provider hands out. */
async function renewable(
  user: Entry,
  { clock, known }: RenewableUsers,
  { refused, cluster }: IdentityContext,
): Promise<Identity | undefined> {
  const { exec, "auth-provider": provider } = user.value;
  const id = JSON.stringify([user.file, user.name, exec, provider]);
  const make = async () => {
    const renew = isRecord(exec)
      ? pluginOf(user, exec, cluster)
      : isRecord(provider)
      ? await providerOf(user, provider, clock)
      : undefined;
    return renew && new RenewingCredential(renew, clock);
  };
  const credential = known.get(id) ?? await make();
  if (!credential) return undefined;
  known.set(id, credential);
  // A plugin may give a certificate, which connections are made with: that has to be known now.
  const { token, cert, key } = await credential.get(refused);
  return {
    ...(token ? { token: (bad) => credential.token(bad) } : {}),
    ...(cert && key ? { cert, key } : {}),
  };
}

function pluginOf(user: Entry, exec: Record<string, unknown>, cluster: IdentityContext["cluster"]) {
  const field = (name: string) => typeof exec[name] === "string" ? exec[name] : "";
  const command = field("command");
  const apiVersion = field("apiVersion");
  if (command === "") throw invalid(user, "exec has no command");
  if (!/^client\.authentication\.k8s\.io\/v1(beta1)?$/.test(apiVersion)) {
    throw invalid(user, `exec.apiVersion is "${apiVersion}"; v1 and v1beta1 are supported`);
  }
  if (exec.interactiveMode === "Always") {
    throw invalid(user, "exec.interactiveMode is Always, and nobody is there to be asked");
  }
  const plugin: ExecPlugin = {
    where: `${user.file}, "${user.name}"`,
    apiVersion,
    // Only a name without a folder is looked for in the PATH.
    command: command.includes("/") ? resolve(user, command) : command,
    args: asArray(exec.args).filter((arg) => typeof arg === "string"),
    env: asArray(exec.env).filter(isRecord).map(({ name, value }) => ({
      name: String(name),
      value: String(value),
    })),
    ...(exec.installHint ? { installHint: field("installHint") } : {}),
    ...(exec.provideClusterInfo === true ? { cluster } : {}),
  };
  return () => runPlugin(plugin);
}

async function providerOf(
  user: Entry,
  provider: Record<string, unknown>,
  clock: Pick<Clock, "now">,
) {
  const { name } = provider;
  if (name !== "oidc") {
    const advice = "oidc is; for clouds use their exec plugin, as kubectl has since 1.26";
    throw invalid(user, `auth-provider ${name} is not supported; ${advice}`);
  }
  const config: Entry = { ...user, value: isRecord(provider.config) ? provider.config : {} };
  const ca = await pem(config, "idp-certificate-authority");
  const [idToken, refreshToken] = [text(config, "id-token"), text(config, "refresh-token")];
  const tokens = new OidcTokens({
    where: `${user.file}, "${user.name}"`,
    clientId: text(config, "client-id") ?? "",
    clientSecret: text(config, "client-secret") ?? "",
    issuer: text(config, "idp-issuer-url") ?? "",
    ...(idToken ? { idToken } : {}),
    ...(refreshToken ? { refreshToken } : {}),
    ...(ca ? { ca } : {}),
  }, () => clock.now());
  return () => tokens.renew();
}
