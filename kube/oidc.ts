/**
 * Identity tokens of an OpenID Connect provider, renewed with a refresh token, as
 * `auth-provider: oidc` of a kubeconfig has them. Our own, since client-node 2.0.1 can't
 * renew them: it hands its OpenID library a text where that takes a URL.
 *
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#using-kubectl
 *
 * @module
 */
import { KubeConfigError } from "./errors.ts";
import type { Credential } from "./renewing_credential.ts";

/** `auth-provider.config` of a kubeconfig. */
export interface OidcProvider {
  /** The user's name, and the file that it stands in: for messages. */
  readonly where: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly issuer: string;
  readonly idToken?: string;
  readonly refreshToken?: string;
  /** PEM of the provider's CA; absent: the system's. */
  readonly ca?: string;
}

const TIMEOUT_MS = 30_000;
const MAX_MESSAGE = 300;

/** Gives the kubeconfig's token first, and from then on new ones of the provider. */
export class OidcTokens {
  readonly #provider: OidcProvider;
  readonly #now: () => number;
  /** The token of the file, until it was given once. */
  #idToken: string | undefined;
  #refreshToken: string | undefined;

  constructor(provider: OidcProvider, now: () => number) {
    this.#provider = provider;
    this.#now = now;
    this.#idToken = provider.idToken;
    this.#refreshToken = provider.refreshToken;
  }

  /**
   * A token that is not expired.
   *
   * @throws {KubeConfigError} when there is none and none can be had.
   */
  async renew(): Promise<Credential> {
    const stored = this.#idToken;
    this.#idToken = undefined;
    if (stored && (expiryOf(stored) ?? Infinity) > this.#now()) return credentialOf(stored);
    const { issuer } = this.#provider;
    const refresh_token = this.#refreshToken;
    if (!refresh_token || !issuer) {
      throw this.#problem("the id-token has expired, and there is no refresh-token: log in again");
    }
    const answer = await this.#exchange(await this.#tokenEndpoint(), refresh_token);
    // Providers that give a new one with each answer take the old one no more.
    if (typeof answer.refresh_token === "string") this.#refreshToken = answer.refresh_token;
    if (typeof answer.id_token !== "string" || answer.id_token === "") {
      throw this.#problem(`${issuer} answered without an id_token: ask for the scope openid`);
    }
    return credentialOf(answer.id_token);
  }

  async #tokenEndpoint(): Promise<string> {
    const { issuer } = this.#provider;
    const url = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
    const { token_endpoint } = await this.#json(url, {});
    if (typeof token_endpoint === "string" && URL.canParse(token_endpoint)) return token_endpoint;
    throw this.#problem(`${url} names no token_endpoint`);
  }

  #exchange(url: string, refresh_token: string): Promise<Record<string, unknown>> {
    const { clientId, clientSecret } = this.#provider;
    const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token });
    const headers: Record<string, string> = {};
    // RFC 6749 §2.3.1; who has no secret is only named.
    if (clientSecret === "") form.set("client_id", clientId);
    else headers.authorization = `Basic ${btoa(`${encoded(clientId)}:${encoded(clientSecret)}`)}`;
    return this.#json(url, { method: "POST", body: form, headers });
  }

  /** Answers in JSON. What a provider says may hold a token, and is shown only where it refuses. */
  async #json(url: string, init: RequestInit): Promise<Record<string, unknown>> {
    const { ca } = this.#provider;
    const client = ca === undefined ? undefined : Deno.createHttpClient({ caCerts: [ca] });
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const request = {
        ...init,
        signal,
        redirect: "error" as const,
        ...(client ? { client } : {}),
      };
      const response = await fetch(url, request);
      const text = await response.text();
      if (response.ok) return recordIn(text) ?? this.#fail(`${url} answered no JSON object`);
      return this.#fail(`${url} refused with ${response.status}: ${reasonIn(text)}; log in again`);
    } catch (cause) {
      if (cause instanceof KubeConfigError) throw cause;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw this.#problem(`${url} can't be reached (${why})`, cause);
    } finally {
      client?.close();
    }
  }

  #fail(text: string): never {
    throw this.#problem(text);
  }

  #problem(text: string, cause?: unknown): KubeConfigError {
    return new KubeConfigError(`${this.#provider.where}: auth-provider oidc: ${text}`, { cause });
  }
}

function credentialOf(token: string): Credential {
  const expiresAt = expiryOf(token);
  return { token, ...(expiresAt === undefined ? {} : { expiresAt }) };
}

/** When a JSON web token expires; undefined where it does not say. */
function expiryOf(token: string): number | undefined {
  try {
    const payload = Uint8Array.fromBase64(token.split(".")[1] ?? "", { alphabet: "base64url" });
    const exp = recordIn(new TextDecoder().decode(payload))?.exp;
    return typeof exp === "number" ? exp * 1000 : undefined;
  } catch {
    return undefined; // no base64: the API server will judge it
  }
}

function encoded(text: string): string {
  return new URLSearchParams([["v", text]]).toString().slice(2);
}

function recordIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
    return isRecord ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined; // no JSON: the caller says what of
  }
}

/** `error` and `error_description` (RFC 6749 §5.2). */
function reasonIn(text: string): string {
  const { error, error_description } = recordIn(text) ?? {};
  const said = [error, error_description].filter((part) => typeof part === "string").join(", ");
  return said.slice(0, MAX_MESSAGE) || "it does not say why";
}
