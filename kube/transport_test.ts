import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { KubeClient } from "./client.ts";
import type { KubeConfig } from "./config.ts";
import { isUnauthorized, KubeConfigError, KubeConnectionError } from "./errors.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { certificate, TlsServer } from "./testing/tls.ts";
import { HANG, rawChunk, RawServer } from "./testing/raw.ts";
import {
  CONFIG_MAPS,
  configMap,
  failure,
  ScriptedServer,
  until,
  WatchBody,
} from "./testing/scripted.ts";
import { createTransport, handlerTransport } from "./transport.ts";

/** What list, watch and apply are answered with this configuration. */
async function listWatchApply(config: KubeConfig): Promise<string[]> {
  const transport = createTransport(config);
  const client = new KubeClient(transport);
  const page = await client.list(CONFIG_MAPS);
  const seen = page.items.map((item) => `list ${item.metadata.name}`);
  const signal = new AbortController().signal;
  const options = { resourceVersion: "1", timeoutSeconds: 60, idleTimeoutMs: 60_000, signal };
  for await (const event of client.watch(CONFIG_MAPS, options)) {
    seen.push(`watch ${event.object.metadata.name}`);
    break;
  }
  const applied = await client.apply(CONFIG_MAPS, configMap("x", "1"), { fieldManager: "me" });
  seen.push(`apply ${applied.metadata.name}`);
  transport.close();
  return seen;
}

Deno.test("a private CA and a client certificate serve list, watch and apply alike", async () => {
  await using server = new TlsServer();
  const config = {
    server: await server.url,
    caCerts: [certificate("ca.crt")],
    cert: certificate("client.crt"),
    key: certificate("client.key"),
  };
  const expected = ["list operator", "watch operator", "apply operator"];
  assertEquals(await listWatchApply(config), expected);
});

Deno.test("a kubeconfig with certificates inline reaches a server as its user", async () => {
  await using server = new TlsServer();
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(
    path,
    JSON.stringify({
      "current-context": "test",
      contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
      clusters: [{
        name: "c",
        cluster: {
          server: await server.url,
          "certificate-authority-data": btoa(certificate("ca.crt")),
        },
      }],
      users: [{
        name: "u",
        user: {
          "client-certificate-data": btoa(certificate("client.crt")),
          "client-key-data": btoa(certificate("client.key")),
        },
      }],
    }),
  );
  const config = await loadKubeconfig({ path });
  await Deno.remove(path);
  const expected = ["list operator", "watch operator", "apply operator"];
  assertEquals(await listWatchApply(config), expected);
});

Deno.test("without the CA a request fails with a connection error that says why", async () => {
  await using server = new TlsServer();
  const transport = createTransport({ server: await server.url, caCerts: [] });
  const error = await assertRejects(() => transport.request("/version"), KubeConnectionError);
  assertStringIncludes(error.message, "certificate");
  assert(error.cause);
  transport.close();
});

Deno.test("without a client certificate the server answers 401", async () => {
  await using server = new TlsServer();
  const config = { server: await server.url, caCerts: [certificate("ca.crt")] };
  assert(isUnauthorized(await assertRejects(() => listWatchApply(config))));
  createTransport(config).close();
});

Deno.test("a client certificate that was rotated is taken up by the request that finds out", async () => {
  await using server = new TlsServer();
  const base = { server: await server.url, caCerts: [certificate("ca.crt")] };
  const identity = (name: string) => ({
    ...base,
    cert: certificate(`${name}.crt`),
    key: certificate(`${name}.key`),
  });
  server.refused = "operator";
  const transport = createTransport({
    ...identity("client"),
    reload: () => Promise.resolve(identity("other")),
  });
  const page = await new KubeClient(transport).list(CONFIG_MAPS);
  assertEquals(page.items[0]?.metadata.name, "operator-2");
  transport.close();
});

Deno.test("a CA that was rotated is taken up by the request that finds out", async () => {
  await using server = new TlsServer();
  const good = {
    server: await server.url,
    caCerts: [certificate("ca.crt")],
    cert: certificate("client.crt"),
    key: certificate("client.key"),
  };
  const old = { ...good, caCerts: [], reload: () => Promise.resolve(good) };
  const transport = createTransport(old);
  assertEquals((await transport.request("/version")).status, 200);
  transport.close();
});

Deno.test("createTransport() refuses certificates that are none", () => {
  const config = { server: "https://127.0.0.1:1", caCerts: [], cert: "no", key: "no" };
  let error: unknown;
  try {
    createTransport(config).close();
  } catch (caught) {
    error = caught;
  }
  assert(error instanceof KubeConfigError);
  assertStringIncludes(error.message, "must be PEM");
});

Deno.test("each request carries the token of its time", async () => {
  const tokens: (string | null)[] = [];
  await using server = new ScriptedServer((request) => {
    tokens.push(request.headers.get("authorization"));
    return Response.json({});
  });
  let n = 0;
  const token = () => Promise.resolve(`t${++n}`);
  const transport = createTransport({ server: server.url, caCerts: [], token });
  await transport.request("/version");
  await transport.request("/version");
  assertEquals(tokens, ["Bearer t1", "Bearer t2"]);
  transport.close();
});

Deno.test("a server that is not there is a connection error with its cause", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const transport = createTransport({ server: `http://127.0.0.1:${port}`, caCerts: [] });
  const error = await assertRejects(() => transport.request("/version"), KubeConnectionError);
  assertStringIncludes(error.message, "GET /version: no answer");
  assert(error.cause);
  transport.close();
});

Deno.test("the timeout covers the wait for headers", async () => {
  await using server = new RawServer(() => HANG);
  const clock = new FakeClock();
  const transport = createTransport({ server: server.url, caCerts: [] }, { clock });
  const answer = transport.request("/version", { timeoutMs: 5_000 });
  await until(() => server.heads.length === 1);
  clock.advance(5_000);
  await assertRejects(() => answer, KubeConnectionError, "no answer within 5000 ms");
  transport.close();
  await until(() => server.connections === 0);
});

Deno.test("a connection on which a request times out and no sign of life comes is given up", async () => {
  const clock = new FakeClock();
  const isWatch = (head: string) => head.startsWith("GET /watch");
  const answer = (head: string) => isWatch(head) ? rawChunk("\n", "hang") : HANG;
  await using server = new RawServer(answer, { clock });
  const abort = new AbortController();
  const watch = await server.transport.request("/watch", { stream: true, signal: abort.signal });
  const reader = watch.body!.getReader();
  await reader.read();
  clock.advance(15_000);
  const slow = server.transport.request("/slow", { timeoutMs: 5_000 });
  await until(() => server.heads.length === 2);
  clock.advance(5_000);
  await assertRejects(() => slow, KubeConnectionError);
  await until(() => server.heads.length === 3);
  assertEquals(server.heads[2], "GET /version HTTP/1.1");
  const broken = assertRejects(() => reader.read(), KubeConnectionError, "connection is dead");
  clock.advance(10_000);
  await broken;
  await until(() => server.connections === 0);
  abort.abort();
});

Deno.test("a slow request breaks nothing else while the API server answers", async () => {
  const clock = new FakeClock();
  const body = new WatchBody();
  await using server = new ScriptedServer((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/watch") return body.response;
    return pathname === "/slow" ? new Promise<Response>(() => {}) : failure(403, "Forbidden");
  });
  const transport = createTransport({ server: server.url, caCerts: [] }, { clock });
  const abort = new AbortController();
  const watch = await transport.request("/watch", { stream: true, signal: abort.signal });
  const reader = watch.body!.getReader();
  await reader.read();
  clock.advance(15_000);
  const slow = transport.request("/slow", { timeoutMs: 5_000 });
  await until(() => server.requests.length === 2);
  clock.advance(5_000);
  await assertRejects(() => slow, KubeConnectionError);
  await until(() => server.requests.length === 3 && clock.pending === 0);
  clock.advance(60_000);
  body.write("still here\n");
  assertEquals(new TextDecoder().decode((await reader.read()).value), "still here\n");
  abort.abort();
  transport.close();
});

Deno.test("over TLS all watches and requests share one connection, and each ends by itself", async () => {
  const ports = new Set<number>();
  let open = 0;
  const tls = { cert: certificate("server.crt"), key: certificate("server.key") };
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", ...tls, onListen() {} },
    (_, info) => {
      ports.add((info.remoteAddr as Deno.NetAddr).port);
      open++;
      const body = new WatchBody({ onCancel: () => open-- });
      body.event("ADDED", configMap("a", "1"));
      return body.response;
    },
  );
  const url = `https://127.0.0.1:${server.addr.port}`;
  const transport = createTransport({ server: url, caCerts: [certificate("ca.crt")] });
  const client = new KubeClient(transport);
  // More than the streams that one connection may have at once, so that one not ended would show.
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 50 }, async () => {
      const signal = new AbortController().signal;
      const options = { resourceVersion: "1", timeoutSeconds: 60, idleTimeoutMs: 60_000, signal };
      for await (const _ of client.watch(CONFIG_MAPS, options)) break;
    }));
  }
  await until(() => open === 0);
  assertEquals(ports.size, 1);
  transport.close();
  await server.shutdown();
});

Deno.test("the timeout covers the body, unless the body is a stream", async () => {
  const body = new ReadableStream<Uint8Array>({ start: (c) => c.enqueue(new Uint8Array([10])) });
  await using server = new ScriptedServer(() => new Response(body));
  const clock = new FakeClock();
  const transport = createTransport({ server: server.url, caCerts: [] }, { clock });
  const answer = transport.request("/version", { timeoutMs: 5_000 });
  await until(() => server.requests.length === 1);
  clock.advance(5_000);
  await assertRejects(() => answer, KubeConnectionError, "no answer within 5000 ms");
  transport.close();
});

Deno.test("a body that breaks off is a connection error", async () => {
  await using server = new RawServer(() => rawChunk('{"gitVersion":', "close"));
  await assertRejects(() => server.client.version(), KubeConnectionError);
});

Deno.test("an aborted request ends at once with the signal's reason", async () => {
  await using server = new RawServer(() => HANG);
  const abort = new AbortController();
  const answer = server.transport.request("/version", { signal: abort.signal });
  await until(() => server.heads.length === 1);
  abort.abort(new Error("enough"));
  await assertRejects(() => answer, Error, "enough");
  await assertRejects(
    () => server.transport.request("/version", { signal: abort.signal }),
    Error,
    "enough",
  );
});

Deno.test("handlerTransport() ends a request whose handler never answers", async () => {
  const transport = handlerTransport(() => new Promise(() => {}));
  const abort = new AbortController();
  const answer = transport.request("/version", { signal: abort.signal });
  abort.abort(new Error("enough"));
  await assertRejects(() => answer, Error, "enough");
});
