/**
 * Authorized calls: a token on each, one more try when it is refused, and typed
 * errors.
 *
 * @module
 */
import type { z } from "zod";
import type { Clock } from "../core/clock.ts";
import { type Credential, TokenSource } from "./auth.ts";
import { type Call, pathOf, whatOf } from "./call.ts";
import { baseURL } from "./checks.ts";
import { failureOf } from "./failure.ts";
import { type ExchangeInfo, Http, type Reply } from "./http.ts";
import { RateLimiter } from "./limiter.ts";
import { Redactor } from "./redact.ts";
import { parseReply } from "./schemas.ts";

export interface AuthorizedHttpOptions {
  /** Where `/api/v2` is, such as `https://api.tailscale.com`. */
  readonly apiURL: string;
  /** Organisation name; "-" is the credential's own. @default "-" */
  readonly tailnet?: string;
  readonly credential: Credential;
  readonly clock: Clock;
  /** @default the platform's own */
  readonly fetch?: typeof fetch;
  /** @default burst 10, then 1 per second */
  readonly limiter?: RateLimiter;
  /** @default "tailscale-gateway" */
  readonly userAgent?: string;
  /** For jitter, in [0, 1). */
  readonly random?: () => number;
  /** For one request, from connecting to the last byte. @default 60_000 */
  readonly timeoutMs?: number;
  /** @default 32 MiB, some 30 000 devices */
  readonly maxBodyBytes?: number;
  /** Ends the requests that are under way or wait. */
  readonly signal?: AbortSignal;
  /** Told of each request that was sent. */
  readonly onExchange?: (info: ExchangeInfo) => void;
}

/** Sends calls to one API as one OAuth client. */
export class AuthorizedHttp {
  readonly tailnet: string;
  readonly #apiURL: string;
  readonly #userAgent: string;
  readonly #redactor: Redactor;
  readonly #http: Http;
  readonly #tokens: TokenSource;

  constructor(options: AuthorizedHttpOptions) {
    const { credential, clock, userAgent = "tailscale-gateway" } = options;
    this.tailnet = options.tailnet ?? "-";
    this.#apiURL = baseURL(options.apiURL);
    this.#userAgent = userAgent;
    this.#redactor = new Redactor("clientSecret" in credential ? [credential.clientSecret] : []);
    this.#http = new Http({
      clock,
      limiter: options.limiter ?? new RateLimiter({ clock }),
      fetch: options.fetch ?? fetch,
      random: options.random ?? Math.random,
      timeoutMs: options.timeoutMs ?? 60_000,
      maxBodyBytes: options.maxBodyBytes ?? 32 * 1024 * 1024,
      signal: options.signal,
      onExchange: options.onExchange,
    });
    this.#tokens = new TokenSource({
      credential,
      clock,
      userAgent,
      apiURL: this.#apiURL,
      http: this.#http,
      redactor: this.#redactor,
    });
  }

  /** See {@linkcode TokenSource.scopes}. */
  get scopes(): readonly string[] | undefined {
    return this.#tokens.scopes;
  }

  /** See {@linkcode TokenSource.tags}. */
  get grantedTags(): readonly string[] | undefined {
    return this.#tokens.tags;
  }

  /** Sends a call and checks what comes back. */
  async json<T>(call: Call, schema: z.ZodType<T>): Promise<T> {
    return parseReply(schema, await this.send(call), whatOf(call));
  }

  /**
   * Sends a call; the answer is a success.
   *
   * @throws {TailscaleError} for every other answer, and for none.
   */
  async send(call: Call): Promise<Reply> {
    const first = await this.#tokens.get();
    let reply = await this.#exchange(call, first);
    if (reply.status === 401) {
      // Revoked, or older than the server thinks right: a new one tells.
      this.#tokens.reject(first);
      const second = await this.#tokens.get();
      reply = await this.#exchange(call, second);
      if (reply.status === 401) this.#tokens.reject(second);
    }
    if (reply.status >= 200 && reply.status < 300) return reply;
    const { scope, tags, deletesDevice } = call;
    const asked = { what: whatOf(call), tailnet: this.tailnet, scope, tags, deletesDevice };
    throw failureOf(reply, { ...asked, grantedTags: this.grantedTags }, this.#redactor);
  }

  #exchange(call: Call, token: string): Promise<Reply> {
    const { operation, method, body } = call;
    return this.#http.exchange({
      what: whatOf(call),
      operation,
      method,
      url: `${this.#apiURL}${pathOf(call)}`,
      headers: {
        authorization: `Bearer ${token}`,
        accept: "application/json",
        "user-agent": this.#userAgent,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}
