/**
 * OAuth client credentials (RFC 6749 §4.4) as Tailscale has them, and its exchange of
 * identity tokens for its own (workload identity federation).
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import {
  CredentialsInvalid,
  IdTokenUnavailable,
  RateLimited,
  type TailscaleError,
  Unavailable,
} from "./errors.ts";
import { failureOf } from "./failure.ts";
import type { Http, Reply } from "./http.ts";
import { checkIdToken } from "./id_token.ts";
import type { Redactor } from "./redact.ts";
import { parseReply, type TokenReply, tokenSchema } from "./schemas.ts";

/** An OAuth client of a tailnet, and what proves to be it. */
export type Credential = ClientSecret | FederatedIdentity;

/** An OAuth client that a secret proves. */
export interface ClientSecret {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** An OAuth client that a token of an issuer whom the tailnet trusts proves. */
export interface FederatedIdentity {
  readonly clientId: string;
  /** A fresh identity token; asked for whenever Tailscale's own is to be renewed. */
  readonly idToken: () => Promise<string>;
}

export interface TokenSourceOptions {
  readonly credential: Credential;
  /** Where `/api/v2` is, without a trailing slash. */
  readonly apiURL: string;
  readonly userAgent: string;
  readonly http: Http;
  readonly clock: Clock;
  readonly redactor: Redactor;
  /** A token is renewed this long before it expires. @default 60_000 */
  readonly marginMs?: number;
}

interface Token extends TokenReply {
  readonly expiresAt: number;
  readonly renewAt: number;
}

/**
 * Keeps one token fresh. However many callers ask at once, one request is sent.
 */
export class TokenSource {
  readonly #options: TokenSourceOptions;
  #token: Token | undefined;
  #flight: Promise<Token> | undefined;
  #granted: Pick<TokenReply, "scopes" | "tags"> = {};

  constructor(options: TokenSourceOptions) {
    this.#options = options;
  }

  /** Scopes of the last token; undefined before it, or when the server did not tell. */
  get scopes(): readonly string[] | undefined {
    return this.#granted.scopes;
  }

  /** Tags of the OAuth client; undefined like {@linkcode TokenSource.scopes}. */
  get tags(): readonly string[] | undefined {
    return this.#granted.tags;
  }

  /**
   * A token that is valid for now.
   *
   * @throws {CredentialsInvalid} when the client is unknown or its proof is refused.
   * @throws {IdTokenUnavailable} when there is no proof to show.
   */
  async get(): Promise<string> {
    const held = this.#token;
    if (held && this.#options.clock.now() < held.renewAt) return held.token;
    try {
      return (await this.#renew()).token;
    } catch (error) {
      const passing = [Unavailable, RateLimited, IdTokenUnavailable]
        .some((kind) => error instanceof kind);
      const usable = held && held === this.#token && this.#options.clock.now() < held.expiresAt;
      // Renewal is early so that a short outage of it costs nothing.
      if (passing && usable) return held.token;
      throw error;
    }
  }

  /**
   * Says that the server refused `token`. Only the first of many callers that
   * were refused with it causes a new one.
   */
  reject(token: string): void {
    if (this.#token?.token === token) this.#token = undefined;
  }

  #renew(): Promise<Token> {
    this.#flight ??= this.#request().finally(() => this.#flight = undefined);
    return this.#flight;
  }

  async #request(): Promise<Token> {
    const { clock, redactor, marginMs = 60_000 } = this.#options;
    const { path, form } = await this.#proof();
    const sentAt = clock.now();
    const reply = await this.#send(path, form);
    const what = `POST ${path}`;
    if (reply.status < 200 || reply.status > 299) throw this.#refusal(reply, what);
    const granted = parseReply(tokenSchema, reply, what);
    redactor.remember(granted.token);
    this.#granted = granted;
    const lifeMs = granted.expiresInSeconds * 1000;
    const expiresAt = sentAt + lifeMs;
    // A quarter of a very short life, else it would be renewed for every call.
    const renewAt = expiresAt - Math.min(marginMs, lifeMs / 4);
    return this.#token = { ...granted, expiresAt, renewAt };
  }

  /** Where the proof goes, and what it is. */
  async #proof(): Promise<{ path: string; form: Record<string, string> }> {
    const { credential, clock, redactor } = this.#options;
    const { clientId: client_id } = credential;
    if ("clientSecret" in credential) {
      const client_secret = credential.clientSecret;
      const form = { grant_type: "client_credentials", client_id, client_secret };
      return { path: "/api/v2/oauth/token", form };
    }
    const jwt = checkIdToken(await credential.idToken(), clock.now());
    redactor.remember(jwt);
    return { path: "/api/v2/oauth/token-exchange", form: { client_id, jwt } };
  }

  #send(path: string, form: Record<string, string>): Promise<Reply> {
    const { apiURL, userAgent, http } = this.#options;
    return http.exchange({
      what: `POST ${path}`,
      operation: "getToken",
      method: "POST",
      url: apiURL + path,
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        "user-agent": userAgent,
      },
      body: new URLSearchParams(form).toString(),
    });
  }

  #refusal(reply: Reply, what: string): TailscaleError {
    const { credential, redactor } = this.#options;
    const failure = failureOf(reply, { what, tailnet: "-" }, redactor);
    const { status } = reply;
    const federated = "idToken" in credential;
    // OAuth answers 400 (invalid_client) where Tailscale answers 401.
    const isRefused = status === 400 || federated && (status === 401 || status === 403);
    if (!isRefused) return failure;
    const advice = federated
      ? "check client_id and audience in the Secret, and that the federated identity in " +
        "Tailscale's admin console has this cluster's issuer and the operator's account as subject"
      : "check client_id and client_secret in the Secret";
    const message = `the OAuth client "${credential.clientId}" was refused: ${advice}`;
    return new CredentialsInvalid(message, { what, status, cause: failure });
  }
}
