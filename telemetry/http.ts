/**
 * The operator's HTTP port:
 *
 * | path | answer |
 * |---|---|
 * | `/metrics` | Prometheus text; JSON where `Accept` prefers `application/json` |
 * | `/health` | JSON: `status` (ok, degraded, not-ready), `notReady`, `degraded`; 503 only when not ready |
 * | `/healthz`, `/livez` | 200 `ok` while the process answers |
 * | `/ready`, `/readyz` | 200 `ok`, or 503 with a reason a line |
 *
 * A degraded operator answers 200: what it serves is the last good state, and
 * neither a restart nor a replica less would make it better.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { redactText } from "../core/secret.ts";
import { type HealthReport, healthStatus } from "./health.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

/** Answers a request. */
export type Route = (request: Request) => Response | Promise<Response>;

/** Options of {@linkcode createHttpHandler}. */
export interface HttpHandlerOptions {
  readonly health: () => HealthReport;
  readonly metrics: Pick<Metrics, "text" | "report">;
  readonly log: Log;
  /** Further paths, such as that of a page. */
  readonly routes?: Readonly<Record<string, Route>>;
}

/** Options of {@linkcode serveHttp}. */
export interface HttpServerOptions extends HttpHandlerOptions {
  /** `host:port`, `[v6]:port` or `:port` (every interface); port 0: a free one. */
  readonly address: string;
  readonly clock: Clock;
}

/** A running server. */
export interface HttpServer {
  /** The port that it got. */
  readonly port: number;
  readonly url: string;
  /** Takes no further request and lets running ones end; answers 503 to them after `graceMs`. */
  shutdown(graceMs?: number): Promise<void>;
}

/** The address cannot be listened on. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** The handler alone, for tests and for servers of another kind. */
export function createHttpHandler(options: HttpHandlerOptions): Route {
  const routes = new Map<string, Route>(Object.entries({
    "/metrics": (request: Request) => metricsResponse(request, options.metrics),
    "/health": () => healthResponse(options.health()),
    "/healthz": () => plainText(200, "ok"),
    "/livez": () => plainText(200, "ok"),
    "/ready": () => readyResponse(options.health()),
    "/readyz": () => readyResponse(options.health()),
    ...options.routes,
  }));
  return async (request) => {
    const { pathname } = new URL(request.url);
    const route = routes.get(pathname);
    if (!route) return plainText(404, `no such path; try ${[...routes.keys()].join(", ")}`);
    if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed(request);
    const response = await answer(route, request, options.log);
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
}

/**
 * Serves the operator's HTTP port.
 *
 * @throws {ListenError} when the address is malformed or taken.
 */
export function serveHttp(options: HttpServerOptions): HttpServer {
  const running = new RunningRequests();
  const server = listen(
    parseAddress(options.address),
    running.track(createHttpHandler(options)),
  );
  const { addr } = server;
  const host = addr.hostname.includes(":") ? `[${addr.hostname}]` : addr.hostname;
  return {
    port: addr.port,
    url: `http://${host}:${addr.port}`,
    async shutdown(graceMs = 5000) {
      const given = Promise.withResolvers<void>();
      const cancels = [
        options.clock.setTimer(() => running.cut(), graceMs),
        // A client that does not read its answer must not keep the process.
        options.clock.setTimer(given.resolve, graceMs + 1000),
      ];
      await Promise.race([server.shutdown(), given.promise]);
      for (const cancel of cancels) cancel();
    },
  };
}

// Cutting off is not done by the signal of Deno.serve: to abort it during a shutdown
// throws (Deno 2.9.3). Nor by one promise for all: each race would stay with it.
class RunningRequests {
  readonly #cuts = new Set<() => void>();

  track(handler: Route): Route {
    return async (request) => {
      const cut = Promise.withResolvers<Response>();
      const onCut = () => cut.resolve(plainText(503, "shutting down"));
      this.#cuts.add(onCut);
      try {
        return await Promise.race([handler(request), cut.promise]);
      } finally {
        this.#cuts.delete(onCut);
      }
    };
  }

  cut(): void {
    for (const onCut of this.#cuts) onCut();
  }
}

/**
 * The parts of `host:port`; an empty host is every interface.
 *
 * @throws {ListenError} when it is of no such form.
 */
export function parseAddress(address: string): { hostname: string; port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/i.exec(address);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) {
    throw new ListenError(
      `"${address}" is no address to listen on; give host:port, such as 127.0.0.1:8080 or :8080`,
    );
  }
  return { hostname: match[1] ?? (match[2] || "0.0.0.0"), port };
}

function listen(
  where: { hostname: string; port: number },
  handler: Route,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve({ ...where, onListen: () => {} }, handler);
  } catch (cause) {
    const { hostname, port } = where;
    throw new ListenError(
      `cannot listen on ${hostname}:${port}: ${cause instanceof Error ? cause.message : cause}; ` +
        "choose another address or stop what holds it",
      { cause },
    );
  }
}

async function answer(route: Route, request: Request, log: Log): Promise<Response> {
  try {
    return await route(request);
  } catch (error) {
    log.error("HTTP request failed", { path: new URL(request.url).pathname, error });
    return plainText(500, "internal error; see the operator's log");
  }
}

async function metricsResponse(
  request: Request,
  metrics: HttpHandlerOptions["metrics"],
): Promise<Response> {
  if (prefersJson(request.headers.get("accept") ?? "")) {
    return Response.json(metrics.report(), { headers: { vary: "Accept" } });
  }
  const { body, contentType } = await metrics.text();
  return new Response(body, { headers: { "content-type": contentType, vary: "Accept" } });
}

function healthResponse(report: HealthReport): Response {
  const status = healthStatus(report);
  const body = {
    status,
    notReady: report.notReady.map(redactText),
    degraded: report.degraded.map(redactText),
  };
  return Response.json(body, { status: status === "not-ready" ? 503 : 200, headers: NO_STORE });
}

function readyResponse(report: HealthReport): Response {
  if (report.notReady.length === 0) return plainText(200, "ok");
  return plainText(503, report.notReady.map(redactText).join("\n"));
}

const NO_STORE = { "cache-control": "no-store" };

function plainText(status: number, text: string): Response {
  const headers = { "content-type": "text/plain; charset=utf-8", ...NO_STORE };
  return new Response(text + "\n", { status, headers });
}

function methodNotAllowed(request: Request): Response {
  const response = plainText(405, `${request.method} is not served here; use GET`);
  response.headers.set("allow", "GET, HEAD");
  return response;
}

/** Whether the header ranks `application/json` above any text. */
function prefersJson(accept: string): boolean {
  const ranks = accept.toLowerCase().split(",").map((part) => {
    const [type = "", ...parameters] = part.split(";").map((piece) => piece.trim());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    return { type, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  });
  const best = (types: (type: string) => boolean) =>
    Math.max(0, ...ranks.filter((rank) => types(rank.type)).map((rank) => rank.q));
  const json = best((type) => type === "application/json");
  const text = best((type) =>
    type.startsWith("text/") || type.startsWith("application/openmetrics")
  );
  return json > 0 && json >= text;
}
