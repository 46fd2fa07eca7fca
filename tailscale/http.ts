/**
 * One HTTP exchange with Tailscale's API: rate limit, total timeout, bounded body.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { backoffMs } from "./backoff.ts";
import { MalformedResponse, Unavailable } from "./errors.ts";
import type { RateLimiter } from "./limiter.ts";
import { parseRetryAfter } from "./retry_after.ts";

/** One request to send. */
export interface HttpRequest {
  /** For messages, such as `GET /api/v2/tailnet/-/devices`. */
  readonly what: string;
  /** For metrics, such as `listDevices`. */
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer, whatever its status. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Where a redirect leads, else undefined. */
  readonly location: string | undefined;
  /** Always set on a 429. */
  readonly retryAfterMs: number | undefined;
}

/** What is told of each exchange that was sent, for metrics. */
export interface ExchangeInfo {
  readonly operation: string;
  /** Absent when no answer came. */
  readonly status?: number;
  readonly durationMs: number;
}

export interface HttpOptions {
  readonly clock: Clock;
  readonly limiter: RateLimiter;
  readonly fetch: typeof fetch;
  readonly random: () => number;
  /** For connecting, headers and body together. */
  readonly timeoutMs: number;
  /** A longer body of a successful answer is an error. */
  readonly maxBodyBytes: number;
  /** Ends all requests, under way and waiting. */
  readonly signal: AbortSignal | undefined;
  readonly onExchange: ((info: ExchangeInfo) => void) | undefined;
}

/** Enough of an error's body for its message. */
const ERROR_BODY_BYTES = 16_384;

/** Sends requests one by one as the limiter lets them. */
export class Http {
  readonly #options: HttpOptions;
  /** 429s in a row, for the backoff where the server names no time. */
  #throttled = 0;

  constructor(options: HttpOptions) {
    this.#options = options;
  }

  /**
   * Sends the request and reads the whole answer.
   *
   * @throws {RateLimited} when it was not sent.
   * @throws {Unavailable} when no whole answer came.
   * @throws {MalformedResponse} when the answer is too large.
   */
  async exchange(request: HttpRequest): Promise<Reply> {
    const { limiter, signal, clock, onExchange } = this.#options;
    await limiter.acquire(request.what, signal).catch((cause: unknown) => {
      if (signal?.aborted) throw new Unavailable("stopped", { what: request.what, cause });
      throw cause;
    });
    const start = clock.now();
    let status: number | undefined;
    try {
      const reply = await this.#withTimeout(request);
      status = reply.status;
      return this.#throttle(reply);
    } finally {
      const durationMs = clock.now() - start;
      onExchange?.({
        operation: request.operation,
        durationMs,
        ...(status === undefined ? {} : { status }),
      });
    }
  }

  async #withTimeout(request: HttpRequest): Promise<Reply> {
    const { clock, timeoutMs, signal } = this.#options;
    const controller = new AbortController();
    const seconds = timeoutMs / 1000;
    const cancel = clock.setTimer(
      () => controller.abort(new Error(`no whole answer within ${seconds} s`)),
      timeoutMs,
    );
    const stop = () => controller.abort(new Error("stopped", { cause: signal?.reason }));
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      return await this.#send(request, controller.signal);
    } catch (cause) {
      if (cause instanceof MalformedResponse) throw cause;
      const aborted: unknown = controller.signal.reason;
      const why = aborted instanceof Error ? aborted.message : networkFault(cause);
      throw new Unavailable(why, { what: request.what, cause });
    } finally {
      cancel();
      signal?.removeEventListener("abort", stop);
    }
  }

  async #send(request: HttpRequest, signal: AbortSignal): Promise<Reply> {
    const { fetch, maxBodyBytes, clock } = this.#options;
    const response = await fetch(request.url, {
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      // A followed redirect would hide a wrong apiURL, and send secrets elsewhere.
      redirect: "manual",
      signal,
    });
    const body = await readBody(response, response.ok ? maxBodyBytes : ERROR_BODY_BYTES);
    if (body.cut && response.ok) {
      throw new MalformedResponse("", `the answer is larger than ${maxBodyBytes} bytes`, {
        what: request.what,
        status: response.status,
      });
    }
    return {
      status: response.status,
      text: body.text,
      location: response.headers.get("location") ?? undefined,
      retryAfterMs: parseRetryAfter(response.headers.get("retry-after"), clock.now()),
    };
  }

  /** Lets the limiter refuse further calls for as long as the server asks. */
  #throttle(reply: Reply): Reply {
    const asked = reply.retryAfterMs ?? 0;
    if (reply.status === 429) {
      const retryAfterMs = asked > 0 ? asked : backoffMs(this.#throttled++, this.#options.random);
      this.#options.limiter.pause(retryAfterMs);
      return { ...reply, retryAfterMs };
    }
    if (reply.status === 503) this.#options.limiter.pause(asked);
    if (reply.status < 400) this.#throttled = 0;
    return reply;
  }
}

async function readBody(
  response: Response,
  maxBytes: number,
): Promise<{ text: string; cut: boolean }> {
  if (!response.body) return { text: "", cut: false };
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop early cancels the stream.
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      const rest = chunk.subarray(0, chunk.length - (bytes - maxBytes));
      return { text: text + decoder.decode(rest), cut: true };
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return { text: text + decoder.decode(), cut: false };
}

/** The innermost message: fetch wraps "connection refused" in "error sending request". */
function networkFault(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  const text = inner instanceof Error ? inner.message : String(inner);
  return `no answer (${text}). Check apiURL, DNS, proxies and network policies`;
}
