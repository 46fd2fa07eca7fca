import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import type { HealthReport } from "./health.ts";
import { type HttpServerOptions, ListenError, parseAddress, serveHttp } from "./http.ts";
import { createLog, silentLog } from "./log.ts";
import { Metrics } from "./metrics.ts";

const OK: HealthReport = { notReady: [], degraded: [] };

interface Fixture {
  get(
    path: string,
    init?: RequestInit,
  ): Promise<{ status: number; headers: Headers; text: string }>;
  metrics: Metrics;
  clock: FakeClock;
  /** Change it to change what the server says. */
  health: HealthReport;
}

async function withServer(
  test: (fixture: Fixture) => Promise<void>,
  options: Partial<HttpServerOptions> = {},
): Promise<void> {
  const clock = new FakeClock();
  const metrics = new Metrics({ clock, hooks: ["Translation"], resources: ["httproutes"] });
  const fixture: Fixture = {
    metrics,
    clock,
    health: OK,
    async get(path, init) {
      const response = await fetch(server.url + path, init);
      return { status: response.status, headers: response.headers, text: await response.text() };
    },
  };
  const server = serveHttp({
    address: "127.0.0.1:0",
    clock,
    health: () => fixture.health,
    metrics,
    log: silentLog,
    ...options,
  });
  try {
    await test(fixture);
  } finally {
    await server.shutdown();
  }
}

Deno.test("M217 /metrics is JSON with hook calls, resource counts and caches when asked for", async () => {
  await withServer(async ({ get, metrics, clock }) => {
    metrics.store("httproutes", () => 7);
    metrics.snapshotBuilt("v1");
    metrics.hookCalled({ hook: "Translation", durationMs: 4 });
    metrics.hookCalled({ hook: "Translation", durationMs: 2, error: "x" });
    clock.advance(1000);
    const { status, headers, text } = await get("/metrics", {
      headers: { accept: "application/json" },
    });
    assertEquals(status, 200);
    assertEquals(headers.get("content-type"), "application/json");
    const hook = {
      totalHookCalls: 2,
      successfulCalls: 1,
      failedCalls: 1,
      lastCallDuration: 2,
      averageCallDuration: 3,
    };
    assertEquals(JSON.parse(text), {
      ...hook,
      hookTypeMetrics: { Translation: hook },
      resources: { httproutes: 7 },
      caches: {
        watches: { httproutes: { lastEventAgeMs: 1000 } },
        snapshot: { version: "v1", rebuilds: 1, ageMs: 1000 },
      },
    });
  });
});

Deno.test("/metrics is Prometheus text to everyone who does not ask for JSON first", async () => {
  const accepts = [
    "*/*",
    "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "text/plain, application/json;q=0.5",
    "application/json;q=0",
    "application/json;q=junk, text/html",
    "",
  ];
  await withServer(async ({ get }) => {
    for (const accept of accepts) {
      const { headers, text } = await get("/metrics", { headers: { accept } });
      assertMatch(headers.get("content-type")!, /^text\/plain; version=0\.0\.4/, accept);
      assertStringIncludes(text, "tailscale_gateway_hook_calls_total{", accept);
    }
  });
});

Deno.test("M218 /health says why it is degraded, and answers 503 only when not ready", async () => {
  await withServer(async (fixture) => {
    const ask = async () => {
      const { status, text } = await fixture.get("/health");
      return [status, JSON.parse(text)];
    };
    assertEquals(await ask(), [200, { status: "ok", notReady: [], degraded: [] }]);
    fixture.health = { notReady: [], degraded: ["11 of the last 100 hook calls failed"] };
    assertEquals(await ask(), [200, { status: "degraded", ...fixture.health }]);
    fixture.health = { notReady: ["secrets: not listed yet"], degraded: ["slow"] };
    assertEquals(await ask(), [503, { status: "not-ready", ...fixture.health }]);
  });
});

Deno.test("M219 /healthz and /livez answer ok while the process answers", async () => {
  await withServer(async (fixture) => {
    fixture.health = { notReady: ["not yet"], degraded: ["slow"] };
    for (const path of ["/healthz", "/livez"]) {
      const { status, text } = await fixture.get(path);
      assertEquals([status, text], [200, "ok\n"], path);
    }
  });
});

Deno.test("M220 /ready and /readyz answer 503 with the reasons until ready", async () => {
  await withServer(async (fixture) => {
    for (const path of ["/ready", "/readyz"]) {
      fixture.health = { notReady: ["a: not listed", "b: tskey-auth-canary"], degraded: [] };
      const before = await fixture.get(path);
      assertEquals([before.status, before.text], [503, "a: not listed\nb: [redacted]\n"], path);
      fixture.health = { notReady: [], degraded: ["slow"] };
      const after = await fixture.get(path);
      assertEquals([after.status, after.text], [200, "ok\n"], path);
    }
  });
});

Deno.test("M258 other paths are 404, other methods 405, HEAD has no body", async () => {
  await withServer(async ({ get }) => {
    const missing = await get("/nope");
    assertEquals(missing.status, 404);
    assertStringIncludes(missing.text, "/metrics, /health");
    for (const method of ["POST", "DELETE", "PUT", "OPTIONS"]) {
      const refused = await get("/health", { method });
      assertEquals([refused.status, refused.headers.get("allow")], [405, "GET, HEAD"], method);
    }
    for (const path of ["/metrics", "/health", "/ready"]) {
      const head = await get(path, { method: "HEAD" });
      assertEquals([head.status, head.text], [200, ""], path);
    }
  });
});

Deno.test("M258 a failing answer is a 500 without details, and is logged", async () => {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line) });
  const health = () => {
    throw new Error("inside");
  };
  await withServer(async ({ get }) => {
    const { status, text } = await get("/health");
    assertEquals(status, 500);
    assertEquals(text, "internal error; see the operator's log\n");
  }, { log, health });
  assertStringIncludes(lines[0]!, '"path":"/health","error":{"error":"Error","message":"inside"}');
});

Deno.test("further routes are served beside ours", async () => {
  const routes = { "/": () => new Response("page") };
  await withServer(async ({ get }) => {
    assertEquals((await get("/")).text, "page");
    assertEquals((await get("/", { method: "POST" })).status, 405);
  }, { routes });
});

Deno.test("shutdown() lets a running request end, then refuses new ones", async () => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const server = slowServer(entered.resolve, release.promise, new FakeClock());
  const running = fetch(`${server.url}/slow`).then((response) => response.text());
  await entered.promise;
  const stopped = server.shutdown();
  release.resolve();
  assertEquals(await running, "done");
  await stopped;
  await fetch(`${server.url}/healthz`).then(
    () => assertEquals("answered", "refused"),
    (error) => assertEquals(error instanceof TypeError, true),
  );
});

Deno.test("shutdown() answers 503 to a request that outlives the grace time", async () => {
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const clock = new FakeClock();
  const server = slowServer(entered.resolve, release.promise, clock);
  const running = fetch(`${server.url}/slow`).then((response) => response.text());
  await entered.promise;
  const stopped = server.shutdown(1000);
  clock.advance(1000);
  assertEquals(await running, "shutting down\n");
  release.resolve();
  await stopped;
});

function slowServer(entered: () => void, release: Promise<void>, clock: FakeClock) {
  const slow = async () => {
    entered();
    await release;
    return new Response("done");
  };
  return serveHttp({
    address: "127.0.0.1:0",
    clock,
    health: () => OK,
    metrics: new Metrics({ clock }),
    log: silentLog,
    routes: { "/slow": slow },
  });
}

Deno.test("an address that is taken is an error that says what to do", async () => {
  const clock = new FakeClock();
  const options = { clock, health: () => OK, metrics: new Metrics({ clock }), log: silentLog };
  const server = serveHttp({ ...options, address: "127.0.0.1:0" });
  const error = assertThrows(
    () => serveHttp({ ...options, address: `127.0.0.1:${server.port}` }),
    ListenError,
    `cannot listen on 127.0.0.1:${server.port}`,
  );
  assertStringIncludes(error.message, "choose another address");
  await server.shutdown();
});

Deno.test("parseAddress() takes host:port, [v6]:port and :port, and refuses the rest", () => {
  assertEquals(parseAddress("127.0.0.1:8080"), { hostname: "127.0.0.1", port: 8080 });
  assertEquals(parseAddress("localhost:0"), { hostname: "localhost", port: 0 });
  assertEquals(parseAddress("[::1]:5005"), { hostname: "::1", port: 5005 });
  assertEquals(parseAddress(":8080"), { hostname: "0.0.0.0", port: 8080 });
  for (
    const bad of ["", "8080", "a:b", "::1:80", "h:65536", "h: 80", "[x]:1", "h:-1", "http://h:1"]
  ) {
    assertThrows(() => parseAddress(bad), ListenError, `"${bad}"`);
  }
});
