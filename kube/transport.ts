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

/** One request. */
export interface RequestInitOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for connecting, sending and the answer's headers, and for the whole
   * body unless `stream`. Default 30 000.
   */
  timeoutMs?: number | undefined;
  /**
   * The body goes on for long (a watch): it is handed over as it comes and no timeout
   * covers it. The caller must abort `signal` when it is done with the body.
   */
  stream?: boolean;
}

/** Sends requests to one API server. */
export interface Transport {
  /**
   * Answers with whatever status the server gave.
   *
   * @throws {KubeConnectionError} when there is no answer
   * @throws the signal's reason when it aborts
   */
  request(path: string, init?: RequestInitOptions): Promise<Response>;
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

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * A transport over Deno's own fetch.
 *
 * @throws {KubeConfigError} when certificate, key or CA can't be used
 */
export function createTransport(config: KubeConfig, options: TransportOptions = {}): Transport {
  return new FetchTransport(config, options);
}

class FetchTransport implements Transport {
  #config: KubeConfig;
  #client: Deno.HttpClient;
  readonly #clock: Clock;
  readonly #userAgent: string;

  constructor(config: KubeConfig, options: TransportOptions) {
    this.#config = config;
    this.#client = createClient(config);
    this.#clock = options.clock ?? systemClock;
    this.#userAgent = options.userAgent ?? "tailscale-gateway";
  }

  async request(path: string, init: RequestInitOptions = {}): Promise<Response> {
    try {
      const response = await this.#send(path, init);
      if (response.status !== 401 || !await this.#reload()) return response;
      await response.body?.cancel();
    } catch (error) {
      // A CA or a client certificate may have been rotated under us: then once more.
      if (!(error instanceof KubeConnectionError) || !await this.#reload()) throw error;
    }
    return await this.#send(path, init);
  }

  close(): void {
    this.#client.close();
  }

  async #send(path: string, init: RequestInitOptions): Promise<Response> {
    const headers: Record<string, string> = { "user-agent": this.#userAgent, ...init.headers };
    if (this.#config.token) headers.authorization = `Bearer ${await this.#config.token()}`;
    return await timed(path, init, this.#clock, (signal) =>
      fetch(this.#config.server + path, {
        client: this.#client,
        method: init.method ?? "GET",
        headers,
        signal,
        // A redirect would carry the credential to wherever the answer points.
        redirect: "manual",
        ...(init.body === undefined ? {} : { body: init.body }),
      }));
  }

  /** Reads the configuration's files again; true when what they say has changed. */
  async #reload(): Promise<boolean> {
    const next = await this.#config.reload?.().catch(() => undefined);
    if (!next || sameIdentity(next, this.#config)) return false;
    const old = this.#client;
    this.#client = createClient(next);
    this.#config = next;
    old.close();
    return true;
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
      return timed(path, init, clock, async (signal) => {
        signal.throwIfAborted();
        const request = new Request(`http://in-process${path}`, {
          method: init.method ?? "GET",
          signal,
          ...(init.headers === undefined ? {} : { headers: init.headers }),
          ...(init.body === undefined ? {} : { body: init.body }),
        });
        return await orAborted(Promise.resolve(handler(request)), signal);
      });
    },
    close() {},
  };
}

type Send = (signal: AbortSignal) => Promise<Response>;

/** Runs one exchange under its timeout, and makes what goes wrong a typed error. */
async function timed(
  path: string,
  init: RequestInitOptions,
  clock: Clock,
  send: Send,
): Promise<Response> {
  const what = `${init.method ?? "GET"} ${path.split("?")[0]}`;
  const ms = init.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const controller = new AbortController();
  const onAbort = () => controller.abort(init.signal?.reason);
  if (init.signal?.aborted) onAbort();
  init.signal?.addEventListener("abort", onAbort, { once: true });
  const cancelTimer = clock.setTimer(
    () => controller.abort(new KubeConnectionError(what, `no answer within ${ms} ms`)),
    ms,
  );
  let streaming = false;
  try {
    const response = await send(controller.signal);
    streaming = init.stream === true && response.ok;
    return streaming ? response : await buffered(response);
  } catch (error) {
    if (init.signal?.aborted) throw init.signal.reason;
    if (error instanceof KubeConnectionError || error instanceof KubeConfigError) throw error;
    throw new KubeConnectionError(what, `no answer: ${messageOf(error)}`, { cause: error });
  } finally {
    cancelTimer();
    if (!streaming) init.signal?.removeEventListener("abort", onAbort);
  }
}

/** The same answer with its body in memory, so that it can't break off later. */
async function buffered(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}

function createClient(config: KubeConfig): Deno.HttpClient {
  const { cert, key } = config;
  const identity = cert !== undefined && key !== undefined ? { cert, key } : {};
  try {
    // HTTP/1.1: a watch that dies silently then takes only its own connection with it,
    // where over HTTP/2 all requests would go on waiting on the one dead connection.
    return Deno.createHttpClient({ caCerts: [...config.caCerts], http2: false, ...identity });
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

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** What an error and its causes say: fetch puts the reason into the cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
