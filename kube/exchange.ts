/**
 * One request and its answer: timeout, abort, and errors with types.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
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

/** How an exchange is watched over. */
export interface ExchangeOptions {
  readonly clock: Clock;
  /** Aborts when the connection has been given up; its reason is the error. */
  readonly abandoned?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/** Sends the request; must stop when the signal aborts. */
type Send = (signal: AbortSignal) => Promise<Response>;

/**
 * Runs one exchange.
 *
 * @throws {KubeConnectionError} when there is no answer
 * @throws the signal's reason when it aborts
 */
export async function exchange(
  path: string,
  init: RequestInitOptions,
  send: Send,
  options: ExchangeOptions,
): Promise<Response> {
  const what = `${init.method ?? "GET"} ${path.split("?")[0]}`;
  const { controller, unlink } = linked([init.signal, options.abandoned]);
  const ms = init.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const cancelTimer = options.clock.setTimer(() => {
    const problem = `no answer within ${ms} ms`;
    controller.abort(new KubeConnectionError(what, problem, { timedOut: true }));
  }, ms);
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
    // A stream goes on; its caller aborts when done with it, which unlinks too.
    if (!streaming) unlink();
  }
}

/** A controller that aborts when one of the signals does; then, or on `unlink`, it lets go of all. */
function linked(signals: readonly (AbortSignal | undefined)[]) {
  const controller = new AbortController();
  const unlink = () => signals.forEach((signal) => signal?.removeEventListener("abort", onAbort));
  function onAbort(event: Event) {
    unlink();
    controller.abort((event.target as AbortSignal).reason);
  }
  for (const signal of signals) {
    if (signal?.aborted) controller.abort(signal.reason);
    signal?.addEventListener("abort", onAbort);
  }
  return { controller, unlink };
}

/** The same answer with its body in memory, so that it can't break off later. */
async function buffered(response: Response): Promise<Response> {
  if (response.body === null) return response;
  const body = await response.arrayBuffer();
  const { status, statusText, headers } = response;
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
}

/** Settles like the promise, or rejects when the signal aborts first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** What an error and its causes say: fetch puts the reason into the cause. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${messageOf(error.cause)}`;
}
