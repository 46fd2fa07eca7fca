/**
 * OAuth client credentials (RFC 6749 §4.4) as Tailscale has them.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { CredentialsInvalid, RateLimited, Unavailable } from "./errors.ts";
import { failureOf } from "./failure.ts";
import type { Http } from "./http.ts";
import type { Redactor } from "./redact.ts";
import { parseReply, type TokenReply, tokenSchema } from "./schemas.ts";

/** An OAuth client of a tailnet. */
export interface Credential {
  readonly clientId: string;
  readonly clientSecret: string;
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
   * @throws {CredentialsInvalid} when the client is unknown or its secret is wrong.
   */
  async get(): Promise<string> {
    const held = this.#token;
    if (held && this.#options.clock.now() < held.renewAt) return held.token;
    try {
      return (await this.#renew()).token;
    } catch (error) {
      const passing = error instanceof Unavailable || error instanceof RateLimited;
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
    const { credential, apiURL, userAgent, http, clock, redactor, marginMs = 60_000 } =
      this.#options;
    const what = "POST /api/v2/oauth/token";
    const sentAt = clock.now();
    const reply = await http.exchange({
      what,
      operation: "getToken",
      method: "POST",
      url: `${apiURL}/api/v2/oauth/token`,
      headers: {
        "content-type": "application/x-www-form-urlencoded",
        accept: "application/json",
        "user-agent": userAgent,
      },
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: credential.clientId,
        client_secret: credential.clientSecret,
      }).toString(),
    });
    if (reply.status < 200 || reply.status > 299) {
      const failure = failureOf(reply, { what, tailnet: "-" }, redactor);
      // OAuth answers 400 (invalid_client) where Tailscale answers 401.
      if (reply.status !== 400) throw failure;
      throw new CredentialsInvalid(
        `the OAuth client "${credential.clientId}" was refused: check client_id and client_secret ` +
          "in the Secret",
        { what, status: 400, cause: failure },
      );
    }
    const granted = parseReply(tokenSchema, reply, what);
    redactor.remember(granted.token);
    this.#granted = granted;
    const lifeMs = granted.expiresInSeconds * 1000;
    const expiresAt = sentAt + lifeMs;
    // A quarter of a very short life, else it would be renewed for every call.
    const renewAt = expiresAt - Math.min(marginMs, lifeMs / 4);
    return this.#token = { ...granted, expiresAt, renewAt };
  }
}
