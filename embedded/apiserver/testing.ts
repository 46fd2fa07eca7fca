/**
 * Short calls of the embedded server, for its tests.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import type { JsonMap } from "./json.ts";
import type { EmbeddedApiServerOptions } from "./options.ts";
import { EmbeddedApiServer } from "./server.ts";

/** An answer, its body read. */
export interface Answer {
  readonly status: number;
  // Tests look into bodies freely.
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** What a call sends beside method and path. */
export interface CallOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly agent?: string;
  readonly signal?: AbortSignal;
}

/** A server with calls that fit on a line. */
export class TestServer {
  readonly server: EmbeddedApiServer;

  constructor(options: EmbeddedApiServerOptions = {}) {
    this.server = new EmbeddedApiServer(options);
  }

  request(method: string, path: string, options: CallOptions = {}): Request {
    const { body, type = "application/json", agent = "test/1", signal } = options;
    return new Request(`http://api${path}`, {
      method,
      headers: { "content-type": type, "user-agent": agent },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  }

  async call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const response = await this.server.handle(this.request(method, path, options));
    const text = await response.text();
    const json = response.headers.get("content-type")?.includes("json");
    return { status: response.status, body: json ? JSON.parse(text) : text };
  }

  get(path: string): Promise<Answer> {
    return this.call("GET", path);
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.call("POST", path, { body });
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.call("PUT", path, { body });
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.call("DELETE", path, body === undefined ? {} : { body });
  }

  mergePatch(path: string, body: unknown): Promise<Answer> {
    return this.call("PATCH", path, { body, type: "application/merge-patch+json" });
  }

  jsonPatch(path: string, body: unknown): Promise<Answer> {
    return this.call("PATCH", path, { body, type: "application/json-patch+json" });
  }

  /** Server-side apply; `path` may carry more of the query. */
  apply(path: string, manager: string, body: unknown): Promise<Answer> {
    const query = `${path.includes("?") ? "&" : "?"}fieldManager=${manager}`;
    return this.call("PATCH", path + query, { body, type: "application/apply-patch+yaml" });
  }

  /** Opens a watch; cancel it at the end of the test. */
  async watch(path: string, signal?: AbortSignal): Promise<WatchReader> {
    const query = `${path.includes("?") ? "&" : "?"}watch=true`;
    const request = this.request("GET", path + query, signal ? { signal } : {});
    return new WatchReader(await this.server.handle(request));
  }
}

/** An event of a watch. */
export interface WatchLine {
  readonly type: string;
  readonly object: KubeObject & { code?: number; reason?: string };
}

/** Reads the events of a watch one by one. */
export class WatchReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";

  constructor(response: Response) {
    if (!response.body) throw new Error("the watch has no body");
    this.#reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  }

  /** The next event; undefined when the watch has ended. */
  async next(): Promise<WatchLine | undefined> {
    while (!this.#rest.includes("\n")) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#rest += value;
    }
    const end = this.#rest.indexOf("\n");
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    return JSON.parse(line) as WatchLine;
  }

  /** The next events as `TYPE name`. */
  async take(count: number): Promise<string[]> {
    const lines: string[] = [];
    while (lines.length < count) {
      const event = await this.next();
      if (!event) return [...lines, "END"];
      lines.push(`${event.type} ${event.object.metadata.name ?? ""}`.trim());
    }
    return lines;
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel();
  }
}

/** A ConfigMap in namespace default. */
export function configMap(name: string, more: JsonMap = {}): JsonMap {
  const { metadata, ...rest } = more;
  const meta = { name, ...(metadata as JsonMap | undefined) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: meta, ...rest };
}

/** Where ConfigMaps of namespace default are. */
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
