/**
 * A Kubernetes API in memory: what `standalone` and the tests run on.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { KubeObject, ResourceType } from "../../core/object.ts";
import { machineClock, timestamp } from "./clock.ts";
import { ClusterIpAllocator } from "./cluster_ip.ts";
import { Collector } from "./collector.ts";
import { Deleter } from "./deletion.ts";
import { discover } from "./discovery.ts";
import { ApiError, NoSuchPath } from "./errors.ts";
import { inFormOf } from "./event_forms.ts";
import { ConnectionReset, type Fault, Faults } from "./faults.ts";
import { clone } from "./json.ts";
import type { EmbeddedApiServerOptions, ListeningServer, RequestRecord } from "./options.ts";
import { Preparer } from "./prepare.ts";
import { Resources } from "./resources.ts";
import { routeOf } from "./route.ts";
import { Storage } from "./storage.ts";
import { KEYS_PATH, TokenSigner } from "./tokens.ts";
import { BUILTIN_TYPES, TypeRegistry } from "./types.ts";
import { ObjectWriter } from "./writes.ts";

const FIRST_NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];
const REQUESTS_KEPT = 10_000;

/**
 * An in-memory Kubernetes API server.
 *
 * @example
 * ```ts
 * import { EmbeddedApiServer } from "./server.ts";
 *
 * const server = new EmbeddedApiServer();
 * const response = await server.handle(new Request("http://api/api/v1/namespaces/default"));
 * (await response.json()).status; // { phase: "Active" }
 * ```
 */
export class EmbeddedApiServer {
  /** The latest requests, the oldest first. Clear it with `requests.length = 0`. */
  readonly requests: RequestRecord[] = [];
  readonly #clock: Clock;
  readonly #types: TypeRegistry;
  readonly #storage: Storage;
  readonly #collector: Collector;
  readonly #resources: Resources;
  readonly #tokens: TokenSigner;
  readonly #faults = new Faults();
  readonly #watches = new Set<() => void>();

  constructor(options: EmbeddedApiServerOptions = {}) {
    const { clock = machineClock, types = [], historyLimit, validate, defaults } = options;
    const storage = new Storage(historyLimit);
    const registry = new TypeRegistry([...BUILTIN_TYPES, ...types]);
    const deleter = new Deleter(storage, clock);
    const preparer = new Preparer({ validate, defaults }, new ClusterIpAllocator(storage));
    const writer = new ObjectWriter({ storage, types: registry, preparer, clock });
    this.#clock = clock;
    this.#types = registry;
    this.#storage = storage;
    this.#collector = new Collector(storage, registry, deleter);
    const tokens = this.#tokens = new TokenSigner(clock);
    this.#resources = new Resources({
      storage,
      writer,
      deleter,
      clock,
      watches: this.#watches,
      tokens,
    });
    this.#makeNamespaces();
  }

  /**
   * Answers a request. Rejects only where a fault breaks the connection, or the
   * request is aborted while a fault makes it hang.
   */
  handle(request: Request): Promise<Response> {
    return this.#handle(request, request.signal);
  }

  async #handle(request: Request, signal: AbortSignal): Promise<Response> {
    const at = this.#clock.now();
    try {
      const response = await this.#faults.take(request, signal) ??
        await this.#answer(request, signal);
      this.#log(request, response.status, at);
      return response;
    } catch (error) {
      this.#log(request, 0, at);
      throw error;
    }
  }

  /** Listens on 127.0.0.1; a free port unless one is given. */
  serve(options: { port?: number } = {}): ListeningServer {
    const settings = { hostname: "127.0.0.1", port: options.port ?? 0, onListen() {} };
    // Not the request's own signal: Deno aborts that one after every answer. A client
    // that goes away is noticed by the body of its watch being cancelled.
    const { signal } = new AbortController();
    const server = Deno.serve(settings, async (request) => {
      try {
        return await this.#handle(request, signal);
      } catch (error) {
        if (!(error instanceof ConnectionReset)) throw error;
        // A body shorter than announced is the nearest to a reset that Deno.serve allows.
        return new Response(emptyStream(), { headers: { "content-length": "1" } });
      }
    });
    return {
      url: `http://127.0.0.1:${server.addr.port}`,
      shutdown: async () => {
        this.#faults.clear();
        this.closeWatches();
        await server.shutdown();
      },
    };
  }

  /** Makes requests to come fail. */
  failNext(fault: Fault): void {
    this.#faults.add(fault);
  }

  /** Forgets the faults that wait, and breaks requests that hang. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** Ends all watches, as a server does from time to time. */
  closeWatches(): void {
    for (const end of [...this.#watches]) end();
  }

  /** How many watches are open. */
  get openWatches(): number {
    return this.#watches.size;
  }

  /** Forgets past changes: watches and pages from before are answered with 410. */
  compact(): void {
    this.#storage.compact();
  }

  /** Calls `listener` with each object (frozen) as it is stored, before a watch tells of it. */
  onStored(listener: (object: KubeObject) => void): void {
    this.#storage.subscribe(({ after }) => {
      if (after) listener(after);
    });
  }

  /** Copies of all objects of a kind, ordered by namespace and name. */
  objects(type: ResourceType): KubeObject[] {
    return this.#storage.list(type).map((object) => clone(inFormOf(type, object)));
  }

  async #answer(request: Request, signal: AbortSignal): Promise<Response> {
    try {
      const url = new URL(request.url);
      if (url.pathname === KEYS_PATH) return Response.json(await this.#tokens.keySet());
      const route = routeOf(url.pathname, this.#types);
      if (route.at === "health") return new Response("ok");
      if (route.at !== "resource") return Response.json(discover(route, this.#types));
      const params = url.searchParams;
      const response = await this.#resources.answer({ request, signal, params, route });
      this.#collector.settle();
      return response;
    } catch (error) {
      if (error instanceof ApiError) return refusal(error);
      return refusal(new ApiError(500, "InternalError", `Internal error occurred: ${error}`));
    }
  }

  #log(request: Request, status: number, at: number): void {
    const { pathname, search } = new URL(request.url);
    this.requests.push({ method: request.method, path: pathname + search, status, at });
    if (this.requests.length >= 2 * REQUESTS_KEPT) this.requests.splice(0, REQUESTS_KEPT);
  }

  #makeNamespaces(): void {
    const type = this.#types.byPath("", "v1", "namespaces");
    if (!type) return;
    for (const name of FIRST_NAMESPACES) {
      const namespace = {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: {
          name,
          uid: crypto.randomUUID(),
          creationTimestamp: timestamp(this.#clock.now()),
          labels: { "kubernetes.io/metadata.name": name },
        },
        spec: { finalizers: ["kubernetes"] },
        status: { phase: "Active" },
      };
      this.#storage.put(type, namespace);
    }
  }
}

function emptyStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

function refusal(error: ApiError): Response {
  if (error instanceof NoSuchPath) return new Response(`${error.message}\n`, { status: 404 });
  const seconds = error.details?.retryAfterSeconds;
  const headers = seconds === undefined ? {} : { "retry-after": String(seconds) };
  return Response.json(error.status(), { status: error.code, headers });
}
