/**
 * The gRPC server that Envoy Gateway calls: a thin shell around the hooks.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import {
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServerUnaryCall,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
} from "@grpc/grpc-js";
import type { Clock } from "../core/clock.ts";
import type { Hook, HookFacts } from "./hooks/hook.ts";
import type { GatewayRevision } from "./hooks/revisions.ts";
import { DEFAULT_MAX_MESSAGE_BYTES, HOOKS, SERVICE } from "./registry.ts";
import { widenConnections, widenStreams } from "./server_window.ts";
import type { Snapshot } from "./snapshot.ts";

/** A finished call of a hook. */
export interface HookCall {
  /** The method's name, such as `PostTranslateModify`. */
  readonly hook: string;
  readonly durationMs: number;
  readonly revisions: readonly GatewayRevision[];
  readonly counts: HookFacts["counts"];
  /** Version of the snapshot that answered. */
  readonly snapshot: string;
  /** Set when the call was answered with an error. */
  readonly error?: Error;
}

/** What a hook has done since the server began. */
export interface HookStats {
  readonly calls: number;
  readonly failures: number;
  readonly durationMsSum: number;
  readonly durationMsLast: number;
  /** Milliseconds since the epoch; absent before the first call. */
  readonly lastCallAt?: number;
}

/** Where the server reports what no caller can see. */
export interface ServerLog {
  info(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Options of {@linkcode ExtensionServer}. */
export interface ExtensionServerOptions {
  /** The snapshot of the moment; read once per call. */
  readonly snapshot: () => Snapshot;
  readonly clock: Clock;
  readonly log: ServerLog;
  /** Largest request and response. @default {DEFAULT_MAX_MESSAGE_BYTES} */
  readonly maxMessageBytes?: number;
  /** Why a call that came with these revisions can't be answered yet, if so. */
  readonly behind?: (revisions: readonly GatewayRevision[]) => string | undefined;
  /** Told of each call, failed ones included. */
  readonly onCall?: (call: HookCall) => void;
}

const IDLE_CONNECTION_MS = 30 * 60_000, PING_MS = 60_000, PING_TIMEOUT_MS = 20_000;

/** The address could not be listened on. */
export class ListenError extends Error {
  override readonly name = "ListenError";

  constructor(readonly address: string, cause: unknown) {
    super(
      `cannot serve gRPC on ${address}: ${messageOf(cause)}; choose an address that is free`,
      { cause },
    );
  }
}

/** The answer would be older than what the caller asks for. */
export class BehindError extends Error {
  override readonly name = "BehindError";
}

/**
 * Serves the hooks over gRPC.
 *
 * @example
 * ```ts ignore
 * const server = new ExtensionServer({ snapshot: () => current, clock: systemClock, log });
 * const port = await server.start("0.0.0.0:5005");
 * await server.stop(10_000);
 * ```
 */
export class ExtensionServer {
  readonly #options: ExtensionServerOptions;
  readonly #server: Server;
  readonly #stats = new Map<string, HookStats>();
  #stopping: Promise<void> | undefined;

  constructor(options: ExtensionServerOptions) {
    this.#options = options;
    this.#server = new Server(serverOptions(options.maxMessageBytes ?? DEFAULT_MAX_MESSAGE_BYTES));
    widenStreams(this.#server);
    const handlers: UntypedServiceImplementation = {};
    for (const hook of HOOKS) {
      this.#stats.set(hook.method, { calls: 0, failures: 0, durationMsSum: 0, durationMsLast: 0 });
      handlers[hook.method] = (call: ServerUnaryCall<Uint8Array, Uint8Array>, answer: Answer) =>
        this.#serve(hook, call.request, answer);
    }
    this.#server.addService(serviceDefinition(HOOKS), handlers);
  }

  /** By method name. */
  get stats(): ReadonlyMap<string, HookStats> {
    return this.#stats;
  }

  /**
   * Begins to serve.
   *
   * @param address `host:port`; port 0 takes a free one.
   * @returns The port.
   * @throws {ListenError} when the address is taken or is not this machine's.
   */
  start(address: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, ServerCredentials.createInsecure(), (error, port) => {
        if (error) return reject(new ListenError(address, error));
        widenConnections(this.#server);
        this.#options.log.info("serving Envoy Gateway's hooks", { address, port });
        resolve(port);
      });
    });
  }

  /**
   * Takes no new calls, lets those that run finish for `graceMs`, then cuts them.
   * Resolves when no connection is left, and after the grace in any case: a connection
   * that never said a word is none that grpc-js could cut.
   */
  stop(graceMs: number): Promise<void> {
    return this.#stopping ??= new Promise((resolve) => {
      const cancel = this.#options.clock.setTimer(() => {
        this.#server.forceShutdown();
        resolve();
      }, graceMs);
      this.#server.tryShutdown((error) => {
        cancel();
        // It fails only for a server that was never started.
        if (error) this.#options.log.error("gRPC server stopped", { error: error.message });
        resolve();
      });
    });
  }

  /** Nothing that happens here may end the process, so every failure is an answer. */
  #serve(hook: Hook, request: Uint8Array, answer: Answer): void {
    const began = performance.now();
    let snapshot = "", facts: HookFacts = { revisions: [], counts: {} }, error: Error | undefined;
    try {
      const current = this.#options.snapshot();
      snapshot = current.version;
      const result = hook.run(current, request);
      facts = result.facts;
      const behind = this.#options.behind?.(facts.revisions);
      if (behind !== undefined) throw new BehindError(behind);
      answer(null, result.response);
    } catch (cause) {
      error = cause instanceof Error ? cause : new Error(String(cause));
      this.#refuse(hook, error, answer);
    }
    const durationMs = performance.now() - began;
    this.#record({
      hook: hook.method,
      durationMs,
      snapshot,
      ...facts,
      ...(error ? { error } : {}),
    });
  }

  #refuse({ method: hook }: Hook, error: Error, answer: Answer): void {
    const details = `${hook}: ${error.message}`;
    const isBehind = error instanceof BehindError;
    if (isBehind) this.#options.log.info("hook refused", { hook, reason: error.message });
    else this.#options.log.error("hook failed", { hook, error: error.message });
    // UNAVAILABLE is what Envoy Gateway tries again by itself.
    answer({ code: isBehind ? status.UNAVAILABLE : status.INTERNAL, details });
  }

  #record(call: HookCall): void {
    const old = this.#stats.get(call.hook)!;
    this.#stats.set(call.hook, {
      calls: old.calls + 1,
      failures: old.failures + (call.error ? 1 : 0),
      durationMsSum: old.durationMsSum + call.durationMs,
      durationMsLast: call.durationMs,
      lastCallAt: this.#options.clock.now(),
    });
    try {
      this.#options.onCall?.(call);
    } catch (error) {
      this.#options.log.error("onCall failed", { hook: call.hook, error: messageOf(error) });
    }
  }
}

type Answer = (
  error: { readonly code: status; readonly details: string } | null,
  response?: Uint8Array,
) => void;

function serverOptions(maxMessageBytes: number): ServerOptions {
  return {
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": maxMessageBytes,
    // Connections of probes that went away without a word must not pile up; no limit
    // on age, since that would end calls.
    "grpc.max_connection_idle_ms": IDLE_CONNECTION_MS,
    "grpc.keepalive_time_ms": PING_MS,
    "grpc.keepalive_timeout_ms": PING_TIMEOUT_MS,
  };
}

/** The service with every message as the bytes that it is. */
function serviceDefinition(hooks: readonly Hook[]): ServiceDefinition {
  // grpc-js writes Buffers only; this one shares the memory.
  const asBuffer = (bytes: Uint8Array) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const asIs = (bytes: Buffer) => bytes;
  return Object.fromEntries(hooks.map((hook) => [hook.method, {
    path: `/${SERVICE}/${hook.method}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: asBuffer,
    requestDeserialize: asIs,
    responseSerialize: asBuffer,
    responseDeserialize: asIs,
  }]));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
