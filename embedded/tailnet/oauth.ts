/**
 * OAuth clients and their tokens.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { ApiError, tokenInvalid } from "./api_error.ts";
import { type FederatedClient, Federation } from "./federation.ts";
import type { IdSource } from "./ids.ts";

/** An OAuth client of the tailnet. */
export interface OAuthClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  readonly tags: readonly string[];
}

/** What a token allows, fixed when it was made. */
export interface Grant {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly tags: readonly string[];
}

export interface TokenIssuerOptions {
  readonly clients: readonly OAuthClient[];
  readonly federated: readonly FederatedClient[];
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly ttlSeconds: number;
  /** Whether a token's answer names its scopes and tags. */
  readonly tellGrant: boolean;
}

/** Gives tokens to clients and knows which are good. */
export class TokenIssuer {
  readonly #options: TokenIssuerOptions;
  readonly #clients: Map<string, OAuthClient>;
  readonly federation: Federation;
  readonly #tokens = new Map<string, Grant & { expiresAt: number }>();

  constructor(options: TokenIssuerOptions) {
    this.#options = options;
    this.#clients = new Map(options.clients.map((client) => [client.clientId, client]));
    this.federation = new Federation(options.federated, options.clock);
  }

  /** Changes a client, as an administrator would; its old tokens stay good. */
  update(clientId: string, change: Partial<Omit<OAuthClient, "clientId">>): void {
    const client = this.#clients.get(clientId);
    if (!client) throw new Error(`no OAuth client "${clientId}"`);
    this.#clients.set(clientId, { ...client, ...change });
  }

  /** Adds a client, or puts it in the place of the one of its id. */
  set(client: OAuthClient): void {
    this.#clients.set(client.clientId, client);
  }

  /** Ends every token that was given. */
  revokeAll(): void {
    this.#tokens.clear();
  }

  /** Answers `POST oauth/token`: credentials as a form or as Basic. */
  async issue(request: Request): Promise<Record<string, unknown>> {
    const form = new URLSearchParams(await request.text());
    const type = form.get("grant_type") ?? "client_credentials";
    if (type !== "client_credentials") throw new ApiError(400, `unsupported grant_type "${type}"`);
    const secret = basicCredentials(request)?.password ?? form.get("client_secret");
    // As the real server does, which reads the client from the secret.
    const client = [...this.#clients.values()].find((each) => each.clientSecret === secret);
    if (!client) throw tokenInvalid();
    return this.#grant(client);
  }

  /** Answers `POST oauth/token-exchange`: a token of an issuer that the tailnet trusts. */
  async exchange(request: Request): Promise<Record<string, unknown>> {
    const form = new URLSearchParams(await request.text());
    const { tags: _, ...answer } = this.#grant(await this.federation.clientOf(form));
    return answer; // which names no tags, unlike that of `oauth/token`
  }

  #grant({ clientId, scopes, tags }: Grant): Record<string, unknown> {
    const { ids, clock, ttlSeconds, tellGrant } = this.#options;
    const token = `tskey-api-k${ids.text(10)}CNTRL-${ids.text(24)}`;
    this.#forgetExpired();
    this.#tokens.set(token, {
      clientId,
      scopes,
      tags,
      expiresAt: clock.now() + ttlSeconds * 1000,
    });
    return {
      access_token: token,
      token_type: "Bearer",
      expires_in: ttlSeconds,
      ...(tellGrant ? { scope: scopes.join(" "), tags: tags.join(" ") } : {}),
    };
  }

  /** What the token of a request allows. */
  authorize(request: Request): Grant {
    const header = request.headers.get("authorization") ?? "";
    const bearer = /^Bearer (.+)$/.exec(header)?.[1];
    const grant = this.#tokens.get(bearer ?? basicCredentials(request)?.user ?? "");
    if (!grant || grant.expiresAt <= this.#options.clock.now()) throw tokenInvalid();
    return grant;
  }

  #forgetExpired(): void {
    for (const [token, { expiresAt }] of this.#tokens) {
      if (expiresAt <= this.#options.clock.now()) this.#tokens.delete(token);
    }
  }
}

function basicCredentials(request: Request): { user: string; password: string } | undefined {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  if (encoded === undefined) return undefined;
  try {
    const text = atob(encoded);
    const colon = text.indexOf(":");
    return { user: unescape(text.slice(0, colon)), password: unescape(text.slice(colon + 1)) };
  } catch {
    return undefined; // Not base64: no credentials, which the caller answers with 401.
  }
}

/** RFC 6749 §2.3.1: both are form-encoded before base64. */
function unescape(text: string): string {
  return new URLSearchParams(`v=${text}`).get("v") ?? "";
}
