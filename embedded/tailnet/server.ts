/**
 * Tailscale's HTTP API over a simulated tailnet, with the faults that the real one
 * was seen to have.
 *
 * @module
 */
import { type Clock, sleep } from "../../core/clock.ts";
import { ApiError } from "./api_error.ts";
import type { TailnetBackend } from "./backend.ts";
import { deviceRoutes } from "./devices.ts";
import { answerOf, type Fault, FaultQueue, halfOf } from "./faults.ts";
import type { FederatedClient } from "./federation.ts";
import { IdSource } from "./ids.ts";
import { keyRoutes } from "./keys.ts";
import { type OAuthClient, TokenIssuer } from "./oauth.ts";
import { scopeAllows, type ServiceApprovers, type TagOwners } from "./policy.ts";
import { type ApiCall, elementsOf, matchPattern, type Route } from "./router.ts";
import { serviceRoutes } from "./service_routes.ts";
import { ServiceBook, type TailnetService } from "./services.ts";
import { settingsRoutes } from "./settings.ts";

export interface TailscaleApiServerOptions {
  readonly backend: TailnetBackend;
  readonly clock: Clock;
  readonly clients: readonly OAuthClient[];
  /** Clients that tokens of other issuers prove. @default none */
  readonly federated?: readonly FederatedClient[];
  /** The tailnet's name, which paths may use beside "-". @default "example.com" */
  readonly tailnet?: string;
  /** As in the policy; absent: any well-formed tag may be given. */
  readonly tagOwners?: TagOwners;
  /** As `autoApprovers.services` in the policy. */
  readonly serviceApprovers?: ServiceApprovers;
  /** @default 3600 */
  readonly tokenTtlSeconds?: number;
  /** Whether a token's answer names scopes and tags. @default true */
  readonly tellGrant?: boolean;
  /** The status of an empty list of services. @default 404 */
  readonly emptyServicesStatus?: 200 | 404;
  /** Decides ids, keys and tokens. @default 2 */
  readonly seed?: number;
}

/** A request that came in. */
export interface LoggedRequest {
  readonly method: string;
  /** With its query, as sent. */
  readonly path: string;
  /** 0 while it is not answered. */
  readonly status: number;
  /** When it came, in milliseconds since the epoch. */
  readonly at: number;
  readonly userAgent: string;
}

interface Incoming {
  readonly request: Request;
  readonly url: URL;
  readonly signal: AbortSignal;
}

const MAX_LOG = 10_000;

/**
 * The API.
 *
 * @example
 * ```ts ignore
 * const api = new TailscaleApiServer({ backend, clock, clients });
 * const server = api.serve();
 * api.failNext({ status: 429, retryAfter: 37, path: /devices/ });
 * await server.shutdown();
 * ```
 */
export class TailscaleApiServer {
  /** Milliseconds of the clock that each answer takes. */
  latencyMs = 0;
  /** Whether errors come as HTML pages, as from a proxy in between. */
  htmlErrors = false;
  /** What came in, the oldest first; at most the last 10 000. */
  readonly requests: LoggedRequest[] = [];
  readonly #clock: Clock;
  readonly #tailnet: string;
  readonly #tokens: TokenIssuer;
  readonly #routes: readonly Route[];
  readonly #book: ServiceBook;
  readonly #faults = new FaultQueue();
  #closing = new AbortController();

  constructor(options: TailscaleApiServerOptions) {
    const { backend, clock, clients, tagOwners } = options;
    const ids = new IdSource(options.seed ?? 2);
    this.#clock = clock;
    this.#tailnet = options.tailnet ?? "example.com";
    this.#tokens = new TokenIssuer({
      clients,
      federated: options.federated ?? [],
      clock,
      ids,
      ttlSeconds: options.tokenTtlSeconds ?? 3600,
      tellGrant: options.tellGrant ?? true,
    });
    this.#book = new ServiceBook({ backend, tagOwners });
    this.#routes = [
      ...keyRoutes({ backend, clock, ids, tagOwners }),
      ...deviceRoutes(backend),
      ...serviceRoutes({
        book: this.#book,
        backend,
        approvers: options.serviceApprovers ?? {},
        emptyListStatus: options.emptyServicesStatus ?? 404,
      }),
      ...settingsRoutes(),
    ];
  }

  /**
   * Answers one request; never rejects.
   *
   * @param signal Ends an answer that hangs.
   */
  async handle(request: Request, signal: AbortSignal = request.signal): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname + url.search;
    const at = this.#clock.now();
    const userAgent = request.headers.get("user-agent") ?? "";
    const entry = { method: request.method, path, status: 0, at, userAgent };
    this.requests.push(entry);
    if (this.requests.length > MAX_LOG) this.requests.shift();
    const response = await this.#answer({ request, url, signal });
    entry.status = response.status;
    return response;
  }

  /** Serves HTTP, by default on a free port of the loopback. */
  serve({ port = 0, hostname = "127.0.0.1" } = {}): { url: string; shutdown(): Promise<void> } {
    this.#closing = new AbortController();
    const { signal } = this.#closing;
    const handler = (request: Request) => this.handle(request, signal);
    const server = Deno.serve({ port, hostname, onListen() {} }, handler);
    const host = server.addr.hostname.includes(":")
      ? `[${server.addr.hostname}]`
      : server.addr.hostname;
    return {
      url: `http://${host}:${server.addr.port}`,
      shutdown: () => {
        this.#closing.abort(new Error("the server shuts down"));
        return server.shutdown();
      },
    };
  }

  /** The API without a network between, as a client's `fetch`. */
  readonly fetch: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    const { signal } = request;
    const aborted = new Promise<never>((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
    return Promise.race([this.handle(request), aborted]);
  };

  /** Spoils the next requests that fit. */
  failNext(fault: Fault): void {
    this.#faults.add(fault);
  }

  /** Forgets the faults that are still to come. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** Ends every token that was given; their next use is answered with 401. */
  revokeTokens(): void {
    this.#tokens.revokeAll();
  }

  /** Rotates a client's secret, or changes its scopes or tags for the tokens to come. */
  updateClient(clientId: string, change: Partial<Omit<OAuthClient, "clientId">>): void {
    this.#tokens.update(clientId, change);
  }

  /** Registers a client that tokens of another issuer prove. */
  setFederated(client: FederatedClient): void {
    this.#tokens.federation.set(client);
  }

  /** Adds a client, or puts it in the place of the one of its id. */
  setClient(client: OAuthClient): void {
    this.#tokens.set(client);
  }

  /** The services that exist. */
  services(): TailnetService[] {
    return structuredClone(this.#book.list());
  }

  async #answer({ request, url, signal }: Incoming): Promise<Response> {
    try {
      if (this.latencyMs > 0) await sleep(this.#clock, this.latencyMs, this.#closing.signal);
      const fault = this.#faults.take(request.method, url.pathname + url.search);
      if (fault && "status" in fault) return answerOf(fault);
      if (fault?.mode === "hang") await this.#hang(signal);
      const response = Response.json(await this.#dispatch(request, url));
      return fault?.mode === "half-body" || fault?.mode === "half-json"
        ? await halfOf(response, fault.mode)
        : response;
    } catch (error) {
      return this.#failure(error);
    }
  }

  async #dispatch(request: Request, url: URL): Promise<unknown> {
    const elements = elementsOf(url.pathname) ?? [];
    if (request.method === "POST" && elements.join("/") === "oauth/token") {
      return await this.#tokens.issue(request);
    }
    if (request.method === "POST" && elements.join("/") === "oauth/token-exchange") {
      return await this.#tokens.exchange(request);
    }
    const grant = this.#tokens.authorize(request);
    for (const route of this.#routes) {
      const params = matchPattern(route.pattern, elements);
      if (!params || route.method !== request.method) continue;
      const call = { params, query: url.searchParams, grant, json: () => jsonOf(request) };
      return await this.#permitted(route, call);
    }
    throw new ApiError(404, "404 page not found");
  }

  #permitted(route: Route, call: ApiCall): unknown {
    const { tailnet = "-" } = call.params;
    if (tailnet !== "-" && tailnet !== this.#tailnet) throw new ApiError(404, "tailnet not found");
    if (scopeAllows(call.grant.scopes, route.scope, route.access)) return route.handle(call);
    const denied = "calling actor does not have enough permissions to perform this function";
    throw new ApiError(route.deniedStatus ?? 403, denied);
  }

  #failure(error: unknown): Response {
    const status = error instanceof ApiError ? error.status : 500;
    const message = error instanceof Error ? error.message : String(error);
    if (!this.htmlErrors) return Response.json({ message }, { status });
    const page = `<html><head><title>${status} error</title></head><body>Sorry.</body></html>`;
    return new Response(page, { status, headers: { "content-type": "text/html" } });
  }

  #hang(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }
}

async function jsonOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch (cause) {
    throw Object.assign(new ApiError(400, "the body is not JSON"), { cause });
  }
}
