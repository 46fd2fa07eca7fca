import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../../core/clock_fake.ts";
import { EmbeddedApiServer } from "./server.ts";
import { CONFIG_MAPS, configMap, TestServer, WatchReader } from "./testing.ts";

Deno.test("over HTTP, a list, a write and a watch work together", async () => {
  const server = new EmbeddedApiServer();
  const { url, shutdown } = server.serve();
  const list = await (await fetch(url + CONFIG_MAPS)).json();
  const query = `?watch=true&resourceVersion=${list.metadata.resourceVersion}`;
  const watch = new WatchReader(await fetch(url + CONFIG_MAPS + query));
  const created = await fetch(url + CONFIG_MAPS, {
    method: "POST",
    body: JSON.stringify(configMap("a")),
    headers: { "content-type": "application/json" },
  });
  assertEquals(created.status, 201);
  await created.body?.cancel();
  assertEquals(await watch.take(1), ["ADDED a"]);
  await shutdown();
  assertEquals(await watch.next(), undefined);
});

Deno.test("over HTTP, a client that goes away ends its watch", async () => {
  const server = new EmbeddedApiServer();
  const { url, shutdown } = server.serve();
  const abort = new AbortController();
  const path = `${url}${CONFIG_MAPS}?watch=true`;
  const response = await fetch(path, { signal: abort.signal });
  assertEquals(server.openWatches, 1);
  abort.abort();
  await assertRejects(() => response.text());
  while (server.openWatches > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await shutdown();
});

Deno.test("over HTTP, a reset breaks the connection and a hang lasts until the client gives up", async () => {
  const server = new EmbeddedApiServer();
  const { url, shutdown } = server.serve();
  server.failNext({ response: "reset" });
  await assertRejects(async () => await (await fetch(url + CONFIG_MAPS)).text());
  server.failNext({ response: "hang" });
  const signal = AbortSignal.timeout(20);
  await assertRejects(() => fetch(url + CONFIG_MAPS, { signal }), DOMException);
  assertEquals(await (await fetch(`${url}/readyz`)).text(), "ok");
  await shutdown();
});

Deno.test("a fault answers in place of the server, for as many requests as it says", async () => {
  const api = new TestServer();
  api.server.failNext({
    match: (request) => request.method === "GET",
    times: 2,
    response: { status: 503, body: { kind: "Status", code: 503 }, headers: { "retry-after": "1" } },
  });
  assertEquals((await api.post(CONFIG_MAPS, configMap("a"))).status, 201);
  assertEquals((await api.get(CONFIG_MAPS)).status, 503);
  assertEquals((await api.get(CONFIG_MAPS)).body, { kind: "Status", code: 503 });
  assertEquals((await api.get(CONFIG_MAPS)).status, 200);
});

Deno.test("in process, a reset rejects, and a hang rejects with the reason of the abort", async () => {
  const api = new TestServer();
  api.server.failNext({ response: "reset" });
  await assertRejects(() => api.get(CONFIG_MAPS), TypeError);
  api.server.failNext({ response: "hang" });
  const abort = new AbortController();
  const hanging = api.call("GET", CONFIG_MAPS, { signal: abort.signal });
  abort.abort(new Error("gave up"));
  await assertRejects(() => hanging, Error, "gave up");
  api.server.failNext({ response: "hang" });
  const released = api.get(CONFIG_MAPS);
  api.server.clearFaults();
  await assertRejects(() => released, TypeError);
});

Deno.test("requests are recorded with method, path, status and time", async () => {
  const clock = new FakeClock(5000);
  const api = new TestServer({ clock });
  await api.get(`${CONFIG_MAPS}?limit=1`);
  await api.post(CONFIG_MAPS, configMap("a"));
  assertEquals(api.server.requests, [
    { method: "GET", path: `${CONFIG_MAPS}?limit=1`, status: 200, at: 5000 },
    { method: "POST", path: CONFIG_MAPS, status: 201, at: 5000 },
  ]);
});

Deno.test("what is served can be discovered", async () => {
  const api = new TestServer();
  assert((await api.get("/version")).body.gitVersion.startsWith("v1."));
  assertEquals((await api.get("/readyz")).body, "ok");
  assertEquals((await api.get("/api")).body.versions, ["v1"]);
  const groups = (await api.get("/apis")).body.groups.map((group: { name: string }) => group.name);
  assert(groups.includes("gateway.tailscale.com") && groups.includes("apps"));
  const group = await api.get("/apis/gateway.networking.k8s.io");
  assertEquals(group.body.preferredVersion.version, "v1");
  const { body } = await api.get("/apis/apps/v1");
  assertEquals(body.resources.map((resource: { name: string }) => resource.name), [
    "statefulsets",
    "statefulsets/scale",
    "statefulsets/status",
    "deployments",
    "deployments/scale",
    "deployments/status",
  ]);
});

Deno.test("what is not served is a 404, of the kind that the real server has", async () => {
  const api = new TestServer();
  const unknown = await api.get("/apis/apps/v1/namespaces/default/nothings");
  assertEquals([unknown.status, unknown.body.kind], [404, "Status"]);
  for (const path of ["/apis/no.such.group/v1/things", "/apis/gateway.tailscale.com/v1alpha1/no"]) {
    const answer = await api.get(path);
    assertEquals([answer.status, answer.body], [404, "404 page not found\n"]);
  }
});

Deno.test("kinds can be added, and one object is served in all versions of its kind", async () => {
  const widgets = {
    group: "x.io",
    version: "v1",
    kind: "Widget",
    plural: "widgets",
    namespaced: true,
  };
  const api = new TestServer({ types: [{ ...widgets, otherVersions: ["v1beta1"] }] });
  const path = (version: string) => `/apis/x.io/${version}/namespaces/default/widgets`;
  const object = { apiVersion: "x.io/v1beta1", kind: "Widget", metadata: { name: "w" } };
  const created = await api.post(path("v1beta1"), object);
  assertEquals([created.status, created.body.apiVersion], [201, "x.io/v1beta1"]);
  assertEquals((await api.get(`${path("v1")}/w`)).body.apiVersion, "x.io/v1");
});

Deno.test("a body in a format that is not understood is refused", async () => {
  const api = new TestServer();
  const type = "application/vnd.kubernetes.protobuf";
  const { status, body } = await api.call("POST", CONFIG_MAPS, { type, body: configMap("a") });
  assertEquals([status, body.reason], [415, "UnsupportedMediaType"]);
  const request = api.request("POST", CONFIG_MAPS, {});
  const broken = new Request(request, { method: "POST", body: "{", headers: request.headers });
  assertEquals((await api.server.handle(broken)).status, 400);
});
