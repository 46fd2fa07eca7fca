/**
 * HTTP to the API server: one transport for list, watch and writes alike, so that
 * a private CA or a client certificate can't work for one and fail for another.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { systemClock } from "../telemetry/clock.ts";
import type { KubeConfig } from "./config.ts";
import { KubeConfigError, KubeConnectionError } from "./errors.ts";
import { exchange, messageOf, orAborted, type RequestInitOptions } from "./exchange.ts";
import { Liveness } from "./liveness.ts";

export type { RequestInitOptions } from "./exchange.ts";

/** Sends requests to one API server. */
export interface Transport {
  /**
   * Answers with whatever status the server gave.
   *
   * @throws {KubeConnectionError} when there is no answer
   * @throws the signal's reason when it aborts
   */
  request(path: string, init?: RequestInitOptions): Promise<Response>;
  /**
   * Somebody has heard nothing for a while: finds out whether the connection is dead, and if
   * so breaks all that goes on over it, so that it starts again on a new one.
   */
  suspect?(): void;
  /** Lets go of all connections. */
  close(): void;
}

/** Settings of {@linkcode createTransport}. */
export interface TransportOptions {
  /** Default: the system's clock. */
  clock?: Clock;
  /** Default `tailscale-gateway`. */
  userAgent?: string;
}

const PROBE_TIMEOUT_MS = 10_000;

/**
 * A transport over Deno's own fetch.
 *
 * @throws {KubeConfigError} when certificate, key or CA can't be used
 */
export function createTransport(config: KubeConfig, options: TransportOptions = {}): Transport {
  return new FetchTransport(config, options);
}

/**
 * Over TLS all requests share one HTTP/2 connection, as kubectl's do. It may die silently
 * (its packets dropped), and would then take every later request with it; hence
 * {@linkcode Liveness}.
 */
class FetchTransport implements Transport {
  #config: KubeConfig;
  #client: Deno.HttpClient;
  /** Aborts when the connection is given up. */
  #connection = new AbortController();
  readonly #closed = new AbortController();
  readonly #clock: Clock;
  readonly #userAgent: string;
  readonly #liveness: Liveness;

  constructor(config: KubeConfig, options: TransportOptions) {
    this.#config = config;
    this.#client = createClient(config);
    this.#clock = options.clock ?? systemClock;
    this.#userAgent = options.userAgent ?? "tailscale-gateway";
    this.#liveness = new Liveness({
      clock: this.#clock,
      probe: () => this.#probe(),
      onDead: () => this.#giveUp(),
    });
  }

  async request(path: string, init: RequestInitOptions = {}): Promise<Response> {
    const config = this.#config;
    try {
      const token = await config.token?.();
      const response = await this.#send(path, init, token);
      if (response.status !== 401 || !await this.#renewed(config, token)) return response;
    } catch (error) {
      if (!(error instanceof KubeConnectionError)) throw error;
      if (error.timedOut) this.#liveness.suspect();
      // A CA or a client certificate may have been rotated under us: then once more.
      if (!await this.#reloaded(config)) throw error;
    }
    return await this.#send(path, init, await this.#config.token?.());
  }

  suspect(): void {
    this.#liveness.suspect();
  }

  close(): void {
    this.#closed.abort(new KubeConnectionError(this.#config.server, "the transport is closed"));
    this.#client.close();
  }

  async #send(path: string, init: RequestInitOptions, token?: string): Promise<Response> {
    const headers: Record<string, string> = {
      "user-agent": this.#userAgent,
      ...this.#config.headers,
      ...init.headers,
    };
    if (token) headers.authorization = `Bearer ${token}`;
    const send = (signal: AbortSignal) =>
      fetch(this.#config.server + path, {
        client: this.#client,
        method: init.method ?? "GET",
        headers,
        signal,
        // A redirect would carry the credential to wherever the answer points.
        redirect: "manual",
        ...(init.body === undefined ? {} : { body: init.body }),
      });
    const options = { clock: this.#clock, abandoned: this.#connection.signal };
    const response = await exchange(path, init, send, options);
    this.#liveness.heard();
    return response;
  }

  /** Whether the API server still answers, be it with an error. */
  async #probe(): Promise<boolean> {
    try {
      const init = { timeoutMs: PROBE_TIMEOUT_MS, signal: this.#closed.signal };
      await this.#send("/version", init, await this.#config.token?.());
      return true;
    } catch (error) {
      // What is refused or reset is over by itself. Only silence must be ended.
      return !(error instanceof KubeConnectionError && error.timedOut);
    }
  }

  #giveUp(): void {
    const { server } = this.#config;
    this.#renew(this.#config);
    const dead = this.#connection;
    this.#connection = new AbortController();
    dead.abort(new KubeConnectionError(server, "the connection is dead", { timedOut: true }));
  }

  /** After a 401: is there another credential now than the one that was refused? */
  async #renewed(sent: KubeConfig, token: string | undefined): Promise<boolean> {
    const tokenOf = (config: KubeConfig) => config.token?.(token).catch(() => token);
    if (token !== undefined && await tokenOf(this.#config) !== token) return true;
    const next = await this.#config.reload?.(true).catch(() => undefined);
    const isNew = next && !(sameIdentity(next, this.#config) && await tokenOf(next) === token);
    if (isNew) this.#renew(next);
    return this.#config !== sent; // by this request, or by another that found it out before
  }

  /** Reads the configuration's files again; true when they say something else than was sent. */
  async #reloaded(sent: KubeConfig): Promise<boolean> {
    const next = await this.#config.reload?.().catch(() => undefined);
    if (next && !sameIdentity(next, this.#config)) this.#renew(next);
    return this.#config !== sent;
  }

  #renew(config: KubeConfig): void {
    const old = this.#client;
    this.#client = createClient(config);
    this.#config = config;
    old.close();
  }
}

/** A transport to a handler in this process, such as an embedded API server. */
export function handlerTransport(
  handler: (request: Request) => Promise<Response> | Response,
  options: Pick<TransportOptions, "clock"> = {},
): Transport {
  const clock = options.clock ?? systemClock;
  return {
    request(path, init = {}) {
      return exchange(path, init, async (signal) => {
        signal.throwIfAborted();
        const request = new Request(`http://in-process${path}`, {
          method: init.method ?? "GET",
          signal,
          ...(init.headers === undefined ? {} : { headers: init.headers }),
          ...(init.body === undefined ? {} : { body: init.body }),
        });
        return await orAborted(Promise.resolve(handler(request)), signal);
      }, { clock });
    },
    close() {},
  };
}

function createClient(config: KubeConfig): Deno.HttpClient {
  const { cert, key, proxy } = config;
  const identity = cert !== undefined && key !== undefined ? { cert, key } : {};
  try {
    return Deno.createHttpClient({
      caCerts: [...config.caCerts],
      ...identity,
      ...(proxy ? { proxy: { transport: "http" as const, ...proxy } } : {}),
    });
  } catch (cause) {
    throw new KubeConfigError(
      `the certificates for ${config.server} can't be used (${messageOf(cause)}): ` +
        "check the CA, client certificate and client key; each must be PEM",
      { cause },
    );
  }
}

function sameIdentity(a: KubeConfig, b: KubeConfig): boolean {
  return a.server === b.server && a.cert === b.cert && a.key === b.key &&
    a.caCerts.join() === b.caCerts.join();
}
