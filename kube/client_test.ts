import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { KubeClient, type WatchOptions } from "./client.ts";
import { isConflict, isNotFound, KubeApiError, KubeConnectionError } from "./errors.ts";
import {
  CONFIG_MAPS,
  configMap,
  failure,
  listOf,
  ScriptedServer,
  WatchBody,
} from "./testing/scripted.ts";
import { createTransport, handlerTransport } from "./transport.ts";

/** A client of a handler in this process, and what it was sent. */
function scripted(answer: () => Response) {
  const sent: { line: string; type: string | null; body: string }[] = [];
  const client = new KubeClient(handlerTransport(async (request) => {
    const url = new URL(request.url);
    const line = `${request.method} ${url.pathname}${url.search}`;
    sent.push({ line, type: request.headers.get("content-type"), body: await request.text() });
    return answer();
  }));
  return { client, sent };
}

const BASE = "/api/v1/namespaces/apps/configmaps";

Deno.test("list() asks for one page and gives items their apiVersion and kind", async () => {
  const { apiVersion: _v, kind: _k, ...bare } = configMap("a", "1");
  const { client, sent } = scripted(() => listOf([bare], "7", "next"));
  const options = { namespace: "apps", labelSelector: "a=b", limit: 2, continue: "token" };
  const page = await client.list(CONFIG_MAPS, options);
  assertEquals(sent[0]!.line, `GET ${BASE}?labelSelector=a%3Db&limit=2&continue=token`);
  assertEquals(page, {
    items: [configMap("a", "1")],
    resourceVersion: "7",
    continue: "next",
  });
});

Deno.test("list() takes a list whose items are null", async () => {
  const { client } = scripted(() => Response.json({ metadata: {}, items: null }));
  assertEquals(await client.list(CONFIG_MAPS), { items: [], resourceVersion: "" });
});

Deno.test("apply() is a server-side apply by the field manager", async () => {
  const { client, sent } = scripted(() => Response.json(configMap("a", "2")));
  const object = configMap("a", "1");
  await client.apply(CONFIG_MAPS, object, {
    fieldManager: "me",
    force: true,
    subresource: "status",
  });
  assertEquals(sent[0], {
    line: `PATCH ${BASE}/a/status?fieldManager=me&force=true`,
    type: "application/apply-patch+yaml",
    body: JSON.stringify(object),
  });
});

Deno.test("create(), patch() and delete() send what the API server wants", async () => {
  const { client, sent } = scripted(() => Response.json(configMap("a", "2")));
  await client.create(CONFIG_MAPS, configMap("a", "1"));
  const contentType = "application/merge-patch+json";
  await client.patch(CONFIG_MAPS, "a", "apps", { data: null }, { contentType });
  await client.delete(CONFIG_MAPS, "a", {
    namespace: "apps",
    uid: "u",
    propagation: "Foreground",
    gracePeriodSeconds: 0,
  });
  assertEquals(sent.map(({ line, type }) => `${line} ${type}`), [
    `POST ${BASE} application/json`,
    `PATCH ${BASE}/a application/merge-patch+json`,
    `DELETE ${BASE}/a application/json`,
  ]);
  assertEquals(JSON.parse(sent[2]!.body), {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u" },
    propagationPolicy: "Foreground",
    gracePeriodSeconds: 0,
  });
});

Deno.test("delete() takes an object that is not there as deleted, and throws other errors", async () => {
  await scripted(() => failure(404, "NotFound")).client.delete(CONFIG_MAPS, "a");
  const { client } = scripted(() => failure(409, "Conflict"));
  assert(isConflict(await assertRejects(() => client.delete(CONFIG_MAPS, "a"))));
});

Deno.test("get() throws the server's own words", async () => {
  const { client } = scripted(() =>
    failure(404, "NotFound", { message: 'configmaps "a" not found' })
  );
  const error = await assertRejects(() => client.get(CONFIG_MAPS, "a", "apps"), KubeApiError);
  assert(isNotFound(error));
  assertEquals(error.message, `GET ${BASE}/a: 404 NotFound: configmaps "a" not found`);
});

Deno.test("errors carry Retry-After in both forms", async () => {
  const clock = new FakeClock(Date.parse("2026-11-27T10:00:00Z"));
  const wish = async (headers: Record<string, string>) => {
    const handler = () => failure(429, "TooManyRequests", { headers });
    const client = new KubeClient(handlerTransport(handler), { clock });
    return (await assertRejects(() => client.version(), KubeApiError)).retryAfterMs;
  };
  assertEquals(await wish({ "retry-after": "37" }), 37_000);
  assertEquals(await wish({ "retry-after": "Fri, 27 Nov 2026 10:00:30 GMT" }), 30_000);
  assertEquals(await wish({}), undefined);
});

Deno.test("errors of a proxy in between keep the start of its page", async () => {
  const page = new Response("<html>Bad Gateway</html>", { status: 502 });
  const error = await assertRejects(() => scripted(() => page).client.version(), KubeApiError);
  assertEquals([error.status, error.reason], [502, ""]);
  assertEquals(error.message, "GET /version: 502: <html>Bad Gateway</html>");
});

Deno.test("a redirect is an error, since following it would give the credential away", async () => {
  await using server = new ScriptedServer(() => Response.redirect("http://127.0.0.1:1/stolen"));
  const error = await assertRejects(() => server.client.version(), KubeApiError);
  assertEquals(error.status, 302);
});

Deno.test("an answer that is not JSON is a connection error", async () => {
  const { client } = scripted(() => new Response("{"));
  await assertRejects(() => client.version(), KubeConnectionError, "not JSON");
});

Deno.test("discover() says whether a kind is served", async () => {
  const served = { resources: [{ name: "configmaps" }, { name: "configmaps/status" }] };
  assert(await scripted(() => Response.json(served)).client.discover(CONFIG_MAPS));
  assert(!await scripted(() => Response.json({ resources: [] })).client.discover(CONFIG_MAPS));
  assert(!await scripted(() => failure(404, "NotFound")).client.discover(CONFIG_MAPS));
  await assertRejects(() => scripted(() => failure(403, "Forbidden")).client.discover(CONFIG_MAPS));
});

function watchOptions(more: Partial<WatchOptions> = {}): WatchOptions {
  const signal = new AbortController().signal;
  return { resourceVersion: "5", timeoutSeconds: 600, idleTimeoutMs: 60_000, signal, ...more };
}

Deno.test("watch() asks for bookmarks from a version on", async () => {
  await using server = new ScriptedServer(() => new Response(""));
  for await (const _ of server.client.watch(CONFIG_MAPS, watchOptions())) { /* none */ }
  assertEquals(server.queries(), [{
    watch: "1",
    allowWatchBookmarks: "true",
    resourceVersion: "5",
    timeoutSeconds: "600",
  }]);
});

Deno.test("watch() outlives the timeout for connecting and headers while events flow", async () => {
  const body = new WatchBody();
  await using server = new ScriptedServer(() => body.response);
  const clock = new FakeClock();
  const transport = createTransport({ server: server.url, caCerts: [] }, { clock });
  const abort = new AbortController();
  const client = new KubeClient(transport, { clock });
  const events = client.watch(CONFIG_MAPS, watchOptions({ signal: abort.signal }));
  for (let i = 0; i < 4; i++) {
    body.event("ADDED", configMap(`c${i}`, `${i + 6}`));
    assertEquals((await events.next()).value?.object.metadata.name, `c${i}`);
    clock.advance(29_000);
  }
  abort.abort();
  await assertRejects(() => events.next(), DOMException);
  assertEquals(clock.pending, 0);
  transport.close();
});

Deno.test("watch() closes its connection when its reader leaves", async () => {
  const body = new WatchBody();
  await using server = new ScriptedServer(() => body.response);
  body.event("ADDED", configMap("a", "6"));
  for await (const _ of server.client.watch(CONFIG_MAPS, watchOptions())) break;
  body.write("\n");
  while (!body.cancelled) await new Promise((resolve) => setTimeout(resolve, 1));
});

Deno.test("watch() throws the status with which it is refused", async () => {
  await using server = new ScriptedServer(() => failure(403, "Forbidden"));
  const events = server.client.watch(CONFIG_MAPS, watchOptions());
  const error = await assertRejects(() => events.next(), KubeApiError);
  assertEquals([error.status, error.what], [403, "WATCH /api/v1/configmaps"]);
});
