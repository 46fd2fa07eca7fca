/**
 * Helpers of this folder's tests: a scripted API server over real HTTP.
 *
 * @module
 */
import type { KubeObject, ResourceType } from "../../core/object.ts";
import { KubeClient } from "../client.ts";
import { createTransport, type Transport } from "../transport.ts";

/** ConfigMaps. */
export const CONFIG_MAPS: ResourceType = {
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
};

/** A ConfigMap of a version. */
export function configMap(name: string, resourceVersion: string, value = ""): ConfigMap {
  const metadata = { name, namespace: "apps", resourceVersion, uid: `uid-${name}` };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value } };
}

/** The object of these tests. */
export interface ConfigMap extends KubeObject {
  data: Record<string, string>;
}

/** Answers one request; `n` counts from 0. */
export type Handler = (request: Request, n: number) => Response | Promise<Response>;

/** A server on a free port of loopback. */
export class ScriptedServer implements AsyncDisposable {
  readonly requests: { method: string; url: URL }[] = [];
  readonly url: string;
  readonly transport: Transport;
  readonly client: KubeClient;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #abort = new AbortController();

  constructor(handler: Handler, options: { port?: number } = {}) {
    this.#server = Deno.serve({
      port: options.port ?? 0,
      hostname: "127.0.0.1",
      signal: this.#abort.signal,
      onListen() {},
    }, (request) => {
      this.requests.push({ method: request.method, url: new URL(request.url) });
      return handler(request, this.requests.length - 1);
    });
    this.url = `http://127.0.0.1:${this.#server.addr.port}`;
    this.transport = createTransport({ server: this.url, caCerts: [] });
    this.client = new KubeClient(this.transport);
  }

  /** Query parameters of the requests so far. */
  queries(): Record<string, string>[] {
    return this.requests.map(({ url }) => Object.fromEntries(url.searchParams));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.transport.close();
    this.#abort.abort();
    await this.#server.finished;
  }
}

/** A watch's answer that the test writes to. */
export class WatchBody {
  readonly response: Response;
  /** Whether the test has ended it. */
  ended = false;
  /** Whether the client has let go of it. */
  cancelled = false;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(options: { onCancel?: () => void } = {}) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        // Deno.serve sends the headers with the first bytes; a blank line is no event.
        this.write("\n");
      },
      cancel: () => {
        this.cancelled = true;
        options.onCancel?.();
      },
    });
    this.response = new Response(body, { headers: { "content-type": "application/json" } });
  }

  /** Sends text as it is. */
  write(text: string): void {
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  /** Sends one event. */
  event(type: string, object: unknown): void {
    this.write(JSON.stringify({ type, object }) + "\n");
  }

  /** Ends the watch as a server does after its timeout. */
  end(): void {
    this.ended = true;
    this.#controller.close();
  }
}

/** A list's answer. */
export function listOf(
  items: readonly unknown[],
  resourceVersion: string,
  continueToken?: string,
): Response {
  return Response.json({
    kind: "ConfigMapList",
    metadata: { resourceVersion, ...(continueToken ? { continue: continueToken } : {}) },
    items,
  });
}

/** A `Status` answer, as the API server gives for an error. */
export function failure(
  code: number,
  reason: string,
  options: { message?: string; headers?: Record<string, string>; details?: unknown } = {},
): Response {
  return Response.json(statusObject(code, reason, options), {
    status: code,
    headers: options.headers ?? {},
  });
}

/** A `Status` object. */
export function statusObject(
  code: number,
  reason: string,
  options: { message?: string; details?: unknown } = {},
) {
  const { message = `${reason} by the test`, details } = options;
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
}

/** Resolves as soon as the condition holds; the test runner's timeout is its only limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1));
}
