/**
 * The body of a watch as events.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { KubeObject } from "../core/object.ts";
import { KubeApiError, KubeConnectionError } from "./errors.ts";
import { LineSplitter } from "./lines.ts";
import { parseStatus } from "./status_error.ts";

/** One event of a watch. A `BOOKMARK` carries a resourceVersion and nothing else of use. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  object: T;
}

/** How a watch's body is read. */
export interface WatchBodyOptions {
  /** Method and path, for errors. */
  what: string;
  clock: Clock;
  /** Milliseconds without a byte after which the connection counts as dead. */
  idleTimeoutMs: number;
  signal: AbortSignal;
  /** Called when nothing has come for a good part of that time. */
  onQuiet?: (() => void) | undefined;
  /** Called for each chunk, be it a whole event or not. */
  onBytes?: (() => void) | undefined;
}

// An object is at most about 3 MiB in the API server; past this it is no watch.
const MAX_LINE = 32 * 1024 * 1024;

/** The part of the idle timeout after which the connection is suspected. */
const QUIET_PART = 0.4;

/**
 * Reads events until the server ends the watch.
 *
 * @throws {KubeApiError} for an `ERROR` event
 * @throws {KubeConnectionError} when the connection breaks, is silent for too long, or the body is no watch
 * @throws the signal's reason when it aborts
 */
export async function* readWatch<T extends KubeObject>(
  body: ReadableStream<Uint8Array>,
  options: WatchBodyOptions,
): AsyncGenerator<WatchEvent<T>, void, void> {
  const splitter = new LineSplitter(MAX_LINE);
  const reader = body.getReader();
  try {
    while (true) {
      const { done, value } = await readChunk(reader, options);
      if (done) break;
      options.onBytes?.();
      for (const line of splitter.push(value)) yield parseEvent<T>(line, options.what);
    }
    const rest = splitter.rest();
    if (rest !== "") yield parseEvent<T>(rest, options.what);
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (error instanceof KubeApiError || error instanceof KubeConnectionError) throw error;
    throw new KubeConnectionError(options.what, "the watch broke off", { cause: error });
  } finally {
    // The connection is gone or not wanted any more; there is nobody to tell that it can't be closed.
    reader.cancel().catch(() => {});
  }
}

/** One read that loses against silence and against the signal, even if the stream never settles. */
function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  options: WatchBodyOptions,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const cancelTimer = onSilence(options, reject);
    reader.read().then(resolve, reject).finally(() => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
    });
  });
}

/** Calls `onQuiet`, then `reject`, unless the returned function is called before. */
function onSilence(
  { clock, idleTimeoutMs, onQuiet, what }: WatchBodyOptions,
  reject: (error: KubeConnectionError) => void,
): () => void {
  const quietMs = idleTimeoutMs * QUIET_PART;
  let cancel = clock.setTimer(() => {
    cancel = clock.setTimer(() => {
      const problem = `nothing came for ${idleTimeoutMs} ms`;
      reject(new KubeConnectionError(what, problem, { timedOut: true }));
    }, idleTimeoutMs - quietMs);
    onQuiet?.();
  }, quietMs);
  return () => cancel();
}

function parseEvent<T extends KubeObject>(line: string, what: string): WatchEvent<T> {
  let event: { type?: unknown; object?: unknown };
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw new KubeConnectionError(what, "the watch broke off within an event", { cause });
  }
  const { type, object } = event ?? {};
  if (type === "ERROR") throw statusOf(object, what);
  if (!isEventType(type) || !isObject(object)) {
    throw new KubeConnectionError(what, `the watch sent something that is no event (${type})`);
  }
  return { type, object: object as T };
}

function statusOf(object: unknown, what: string): KubeApiError {
  return new KubeApiError({
    what,
    status: 500,
    message: "the watch failed",
    ...parseStatus(object),
  });
}

function isEventType(type: unknown): type is WatchEvent["type"] {
  return type === "ADDED" || type === "MODIFIED" || type === "DELETED" || type === "BOOKMARK";
}

function isObject(value: unknown): value is KubeObject {
  return typeof value === "object" && value !== null &&
    typeof (value as { metadata?: unknown }).metadata === "object";
}
