import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { OPERATOR_CLIENT, tokenFor, withTailnet } from "./testing.ts";

const DEVICES = "tailnet/-/devices";

async function get(url: string, path: string, init: RequestInit = {}) {
  const headers = { authorization: `Bearer ${await tokenFor(url)}` };
  return await fetch(`${url}/api/v2/${path}`, { headers, ...init });
}

Deno.test("the tailnet's own name and the dash lead to it, another name is 404", async () => {
  await withTailnet({ tailnet: "acme.example" }, async ({ call }) => {
    assertEquals((await call("GET", "tailnet/acme.example/devices")).status, 200);
    assertEquals((await call("GET", "tailnet/-/devices")).status, 200);
    assertEquals((await call("GET", "tailnet/other.example/devices")).status, 404);
  });
});

Deno.test("what is not there is 404: routes, methods and broken escapes", async () => {
  await withTailnet({}, async ({ call }) => {
    assertEquals((await call("GET", "nothing")).status, 404);
    assertEquals((await call("PATCH", DEVICES, {})).status, 404);
    assertEquals((await call("GET", "device/%ZZ")).status, 404);
    assertEquals((await call("DELETE", "device/")).status, 404);
  });
});

Deno.test("a missing scope is 403, and 404 where services are read", async () => {
  await withTailnet({}, async ({ call, api }) => {
    const statusWith = async (scopes: string[], method: string, path: string, body?: unknown) => {
      api.updateClient(OPERATOR_CLIENT.clientId, { scopes });
      return (await call(method, path, body)).status;
    };
    const body = { ports: ["tcp:80"] };
    assertEquals(await statusWith(["auth_keys"], "GET", DEVICES), 403);
    assertEquals(await statusWith(["devices:core:read"], "GET", DEVICES), 200);
    assertEquals(await statusWith(["devices:core:read"], "DELETE", "device/x"), 403);
    assertEquals(await statusWith(["devices:core"], "GET", "tailnet/-/keys"), 403);
    assertEquals(await statusWith(["devices:core"], "GET", "tailnet/-/vip-services"), 404);
    assertEquals(await statusWith([], "PUT", "tailnet/-/services/svc:a", body), 403);
    assertEquals(await statusWith(["services"], "GET", "tailnet/-/settings"), 403);
    assertEquals(await statusWith(["feature_settings:read"], "GET", "tailnet/-/settings"), 200);
    assertEquals(await statusWith(["dns:read"], "GET", "tailnet/-/dns/preferences"), 200);
  });
});

Deno.test("injected answers meet the requests that fit, as often as asked", async () => {
  await withTailnet({}, async ({ call, api, url }) => {
    api.failNext({ status: 429, retryAfter: 37, path: /devices/, times: 2 });
    assertEquals((await call("GET", "tailnet/-/keys")).status, 200);
    const first = await get(url, DEVICES);
    assertEquals([first.status, first.headers.get("retry-after")], [429, "37"]);
    await first.body?.cancel();
    assertEquals((await call("GET", DEVICES)).status, 429);
    assertEquals((await call("GET", DEVICES)).status, 200);
    api.failNext({ status: 500, method: "DELETE" });
    assertEquals((await call("GET", DEVICES)).status, 200);
    assertEquals((await call("DELETE", "device/x")).status, 500);
    api.failNext({ status: 500, times: 5 });
    api.clearFaults();
    assertEquals((await call("GET", DEVICES)).status, 200);
  });
});

Deno.test("errors may come as HTML, with their status", async () => {
  await withTailnet({}, async ({ api, url }) => {
    api.htmlErrors = true;
    const response = await get(url, "device/none");
    assertEquals(response.status, 404);
    assertEquals(response.headers.get("content-type"), "text/html");
    assertStringIncludes(await response.text(), "<html>");
  });
});

Deno.test("half an answer ends in order, or with a broken connection", async () => {
  await withTailnet({}, async ({ api, net, url }) => {
    net.addHost({ name: "a" });
    api.failNext({ mode: "half-json", path: /devices/ });
    const short = await (await get(url, DEVICES)).text();
    assert(short.startsWith('{"devices":['));
    api.failNext({ mode: "half-body", path: /devices/ });
    await assertRejects(async () => await (await get(url, DEVICES)).text());
  });
});

Deno.test("a request that hangs ends when the client gives up, or the server ends", async () => {
  const left: Promise<Response>[] = [];
  await withTailnet({}, async ({ api, url }) => {
    const controller = new AbortController();
    const headers = { authorization: `Bearer ${await tokenFor(url)}` };
    api.failNext({ mode: "hang", path: /devices/, times: 2 });
    const devices = `${url}/api/v2/${DEVICES}`;
    const given = api.fetch(devices, { headers, signal: controller.signal });
    left.push(fetch(devices, { headers }));
    controller.abort(new Error("given up"));
    await assertRejects(() => given, Error, "given up");
    while (api.requests.length < 3) await new Promise((resolve) => setTimeout(resolve, 0));
  });
  for (const response of await Promise.all(left)) {
    assertEquals(await response.json(), { message: "the server shuts down" });
  }
});

Deno.test("latency is time of the clock", async () => {
  await withTailnet({}, async ({ api, clock, url }) => {
    const headers = { authorization: `Bearer ${await tokenFor(url)}` };
    api.latencyMs = 5000;
    let done = false;
    const answer = api.handle(new Request(`${url}/api/v2/${DEVICES}`, { headers }))
      .then((response) => response.body?.cancel()).then(() => done = true);
    assertEquals([clock.pending, done], [1, false]);
    clock.advance(5000);
    await answer;
    assert(done);
  });
});

Deno.test("requests are logged as they were sent", async () => {
  await withTailnet({}, async ({ api, call, clock }) => {
    await call("GET", "tailnet/-/vip-services/svc:web?x=1");
    const [token, read] = api.requests;
    assertEquals(token?.path, "/api/v2/oauth/token");
    assertEquals([read?.method, read?.path], ["GET", "/api/v2/tailnet/-/vip-services/svc:web?x=1"]);
    assertEquals([read?.status, read?.at], [404, clock.now()]);
  });
});

Deno.test("a body that is not JSON is 400", async () => {
  await withTailnet({}, async ({ url }) => {
    const response = await get(url, "tailnet/-/keys", {
      method: "POST",
      headers: { authorization: `Bearer ${await tokenFor(url)}` },
      body: "{",
    });
    assertEquals(response.status, 400);
    assertEquals(await response.json(), { message: "the body is not JSON" });
  });
});

Deno.test("the same seed and requests give the same bytes", async () => {
  const run = async () => {
    const seen: unknown[] = [];
    await withTailnet({}, async ({ call, net }) => {
      net.addHost({ name: "a" });
      seen.push((await call("GET", DEVICES)).json);
      const body = { capabilities: { devices: { create: { tags: ["tag:k8s"] } } } };
      seen.push((await call("POST", "tailnet/-/keys", body)).json);
    });
    return JSON.stringify(seen);
  };
  assertEquals(await run(), await run());
});
