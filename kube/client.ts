/**
 * A small client of the Kubernetes API: plain objects in and out.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../core/object.ts";
import { systemClock } from "../telemetry/clock.ts";
import type {
  ApplyOptions,
  DeleteOptions,
  ListOptions,
  ListPage,
  PatchOptions,
  Selection,
  WatchOptions,
} from "./client_options.ts";
import { isNotFound, KubeConnectionError } from "./errors.ts";
import { groupPath, resourcePath } from "./path.ts";
import { errorFrom } from "./status_error.ts";
import type { RequestInitOptions, Transport } from "./transport.ts";
import { readWatch, type WatchEvent } from "./watch.ts";

export type * from "./client_options.ts";
export { resourcePath } from "./path.ts";
export type { WatchEvent } from "./watch.ts";

const JSON_TYPE = "application/json";

/** Requests to one API server. */
export class KubeClient {
  readonly #transport: Transport;
  readonly #clock: Clock;

  constructor(transport: Transport, options: { clock?: Clock } = {}) {
    this.#transport = transport;
    this.#clock = options.clock ?? systemClock;
  }

  /** One object. @throws {KubeApiError} 404 when it is not there ({@linkcode isNotFound}) */
  async get<T extends KubeObject>(
    type: ResourceType,
    name: string,
    namespace?: string,
    options: { signal?: AbortSignal } = {},
  ): Promise<T> {
    return await this.#json<T>(resourcePath(type, namespace, name), options);
  }

  /**
   * The same client with a fence before each write, at the last moment before it is sent.
   *
   * @param fence Throws when the write may not be sent.
   */
  fenced(fence: (what: string) => void): KubeClient {
    const transport = this.#transport;
    const request: Transport["request"] = async (path, init = {}) => {
      if ((init.method ?? "GET") !== "GET") fence(whatOf(path, init));
      return await transport.request(path, init);
    };
    const rest = { suspect: () => transport.suspect?.(), close: () => transport.close() };
    return new KubeClient({ request, ...rest }, { clock: this.#clock });
  }

  /** One page of a list; items get the apiVersion and kind that lists leave out. */
  async list<T extends KubeObject>(
    type: ResourceType,
    options: ListOptions = {},
  ): Promise<ListPage<T>> {
    const query = selectionQuery(options);
    if (options.limit) query.set("limit", String(options.limit));
    if (options.continue) query.set("continue", options.continue);
    const path = withQuery(resourcePath(type, options.namespace), query);
    const list = await this.#json<RawList<T>>(path, { signal: options.signal });
    const head = { apiVersion: apiVersionOf(type), kind: type.kind };
    return {
      items: (list.items ?? []).map((item) => ({ ...head, ...item })),
      resourceVersion: list.metadata?.resourceVersion ?? "",
      ...(list.metadata?.continue ? { continue: list.metadata.continue } : {}),
    };
  }

  /** Makes an object. @throws {KubeApiError} 409 when the name is taken ({@linkcode isAlreadyExists}) */
  async create<T extends KubeObject>(
    type: ResourceType,
    object: T,
    options: { fieldManager?: string; signal?: AbortSignal } = {},
  ): Promise<T> {
    const query = managerQuery(options);
    const path = withQuery(resourcePath(type, object.metadata.namespace), query);
    return await this.#send<T>("POST", path, { value: object, ...options });
  }

  /** Creates at a subresource of an object, such as a ServiceAccount's `token`. */
  async createAt<T>(
    type: ResourceType,
    at: { name: string; namespace?: string; subresource: string },
    value: unknown,
  ): Promise<T> {
    const path = resourcePath(type, at.namespace, at.name, at.subresource);
    return await this.#send<T>("POST", path, { value });
  }

  /** Server-side apply: the manager's whole wish for an object, made if it is not there. */
  async apply<T extends KubeObject>(
    type: ResourceType,
    object: T,
    options: ApplyOptions,
  ): Promise<T> {
    const { name, namespace } = object.metadata;
    const query = managerQuery(options);
    if (options.force) query.set("force", "true");
    const path = withQuery(resourcePath(type, namespace, name, options.subresource), query);
    // JSON is YAML, and the only content type for apply that every supported version takes.
    const contentType = "application/apply-patch+yaml";
    return await this.#send<T>("PATCH", path, { value: object, contentType, ...options });
  }

  /** Patches one object. */
  async patch<T extends KubeObject>(
    type: ResourceType,
    name: string,
    namespace: string | undefined,
    patch: unknown,
    options: PatchOptions,
  ): Promise<T> {
    const at = resourcePath(type, namespace, name, options.subresource);
    const path = withQuery(at, managerQuery(options));
    return await this.#send<T>("PATCH", path, { value: patch, ...options });
  }

  /** Deletes one object; that it is not there is success. */
  async delete(type: ResourceType, name: string, options: DeleteOptions = {}): Promise<void> {
    const value = {
      apiVersion: "v1",
      kind: "DeleteOptions",
      ...(options.uid === undefined ? {} : { preconditions: { uid: options.uid } }),
      ...(options.propagation === undefined ? {} : { propagationPolicy: options.propagation }),
      ...(options.gracePeriodSeconds === undefined
        ? {}
        : { gracePeriodSeconds: options.gracePeriodSeconds }),
    };
    const path = resourcePath(type, options.namespace, name);
    try {
      await this.#answer(path, sendInit("DELETE", { value, signal: options.signal }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /**
   * The changes since a resourceVersion, until the server ends the watch.
   *
   * @throws {KubeApiError} when the server refuses it, or ends it with an error; 410 means: list again
   * @throws {KubeConnectionError} when the connection breaks or is silent for too long
   * @throws the signal's reason when it aborts
   */
  async *watch<T extends KubeObject>(
    type: ResourceType,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<T>, void, void> {
    const query = selectionQuery(options);
    query.set("watch", "1");
    query.set("allowWatchBookmarks", "true");
    query.set("resourceVersion", options.resourceVersion);
    query.set("timeoutSeconds", String(Math.max(1, Math.round(options.timeoutSeconds))));
    const path = resourcePath(type, options.namespace);
    const what = `WATCH ${path}`;
    const { controller, unlink } = linkedController(options.signal);
    try {
      const init = { stream: true, signal: controller.signal };
      const response = await this.#answer(withQuery(path, query), init);
      options.onOpen?.();
      if (response.body === null) return;
      yield* readWatch<T>(response.body, {
        what,
        clock: options.clock ?? this.#clock,
        idleTimeoutMs: options.idleTimeoutMs,
        signal: controller.signal,
        onBytes: options.onBytes,
        onQuiet: () => this.#transport.suspect?.(),
      });
    } finally {
      unlink();
      controller.abort(new DOMException("the watch is over", "AbortError"));
    }
  }

  /** The API server's version. */
  async version(options: { signal?: AbortSignal } = {}): Promise<{ gitVersion: string }> {
    return await this.#json<{ gitVersion: string }>("/version", options);
  }

  /** Whether the API server serves this kind (its CRD is installed). */
  async discover(type: ResourceType): Promise<boolean> {
    try {
      const list = await this.#json<{ resources?: { name: string }[] }>(groupPath(type));
      return (list.resources ?? []).some(({ name }) => name === type.plural);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  #send<T>(method: string, path: string, options: SendOptions): Promise<T> {
    return this.#json<T>(path, sendInit(method, options));
  }

  async #json<T>(path: string, init: RequestInitOptions = {}): Promise<T> {
    const response = await this.#answer(path, init);
    try {
      return await response.json();
    } catch (cause) {
      throw new KubeConnectionError(whatOf(path, init), "the answer is not JSON", { cause });
    }
  }

  /** The answer when it is a good one. */
  async #answer(path: string, init: RequestInitOptions): Promise<Response> {
    const headers = { accept: JSON_TYPE, ...init.headers };
    const response = await this.#transport.request(path, { ...init, headers });
    if (response.ok) return response;
    throw await errorFrom(response, whatOf(path, init), this.#clock.now());
  }
}

interface RawList<T> {
  metadata?: { resourceVersion?: string; continue?: string };
  items?: T[] | null;
}

interface SendOptions {
  value: unknown;
  contentType?: string;
  signal?: AbortSignal | undefined;
}

function sendInit(method: string, options: SendOptions): RequestInitOptions {
  return {
    method,
    headers: { "content-type": options.contentType ?? JSON_TYPE },
    body: JSON.stringify(options.value),
    signal: options.signal,
  };
}

function whatOf(path: string, init: RequestInitOptions): string {
  const method = init.stream ? "WATCH" : init.method ?? "GET";
  return `${method} ${path.split("?")[0]}`;
}

function selectionQuery(selection: Selection): URLSearchParams {
  const query = new URLSearchParams();
  if (selection.labelSelector) query.set("labelSelector", selection.labelSelector);
  if (selection.fieldSelector) query.set("fieldSelector", selection.fieldSelector);
  return query;
}

function managerQuery(options: { fieldManager?: string }): URLSearchParams {
  return new URLSearchParams(options.fieldManager ? { fieldManager: options.fieldManager } : {});
}

function withQuery(path: string, query: URLSearchParams): string {
  const text = query.toString();
  return text === "" ? path : `${path}?${text}`;
}

/** A controller that aborts with the signal, and that can abort without it. */
function linkedController(signal: AbortSignal): {
  controller: AbortController;
  unlink: () => void;
} {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  return { controller, unlink: () => signal.removeEventListener("abort", onAbort) };
}
