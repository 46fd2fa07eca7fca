import { assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { withTailnet } from "../embedded/tailnet/testing.ts";
import { MalformedResponse, Unavailable } from "./errors.ts";
import { clientFor, errorOf, withServer } from "./testing.ts";

const KEY = { tags: ["tag:k8s"], ephemeral: false, description: "" };
const WEB = { name: "svc:web", addrs: [], ports: ["tcp:443"], tags: ["tag:web"] };

Deno.test("half an answer, HTML for JSON and wrong types are typed errors, each with its status", async () => {
  await withTailnet({}, async (t) => {
    t.net.addHost({ name: "a" });
    t.api.failNext({ mode: "half-json", path: /devices/ });
    const half = await assertRejects(() => clientFor(t).listDevices(), MalformedResponse);
    assertEquals(half.status, 200);
    t.api.failNext({ status: 200, body: "<html>log in</html>", path: /devices/ });
    await assertRejects(() => clientFor(t).listDevices(), MalformedResponse, "not JSON");
    t.api.failNext({ status: 200, body: '{"devices":{}}', path: /devices/ });
    const wrong = await assertRejects(() => clientFor(t).listDevices(), MalformedResponse);
    assertEquals(wrong.path, "devices");
    t.api.htmlErrors = true;
    t.api.failNext({ status: 502, body: "<html>", path: /keys/ });
    const gateway = await assertRejects(() => clientFor(t).listAuthKeys(), Unavailable);
    assertEquals(gateway.status, 502);
  });
});

Deno.test("no secret is in any error, though the server echoes what it was sent", async () => {
  const clientSecret = 'canary/secret+with "odd" bytes';
  const credential = { clientId: "kX", clientSecret };
  for (const status of [200, 400, 401, 403, 404, 409, 429, 500, 503]) {
    const echo = async (request: Request) => {
      const sent = [...request.headers.values(), await request.text(), clientSecret];
      const message = [...sent, encodeURIComponent(clientSecret)].join(" ");
      return Response.json({ message, key: "canary-key", id: 7 }, { status });
    };
    await withServer(echo, async (url) => {
      const client = clientFor({ url, clock: new FakeClock() }, { credential });
      const errors = [
        await errorOf(client.createAuthKey(KEY)),
        await errorOf(client.listDevices()),
        await errorOf(client.putService(WEB).then(() => Promise.reject(new Error("sent")))),
      ];
      const text = [...errors, client].map((e) => Deno.inspect(e, { depth: 12, showHidden: true }));
      assertEquals(/canary|odd/.test(text.join("\n")), false, text.join("\n"));
      assertEquals(/canary|odd/.test(JSON.stringify(errors)), false);
    });
  }
  const leaky = (request: Request) =>
    request.text().then((text) => new Response(`<title>${text}</title>`, { status: 401 }));
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, leaky);
  const url = `http://127.0.0.1:${server.addr.port}`;
  const refused = errorOf(clientFor({ url, clock: new FakeClock() }, { credential }).listDevices());
  assertEquals(/canary|odd/.test(Deno.inspect(await refused)), false);
  await server.shutdown();
});

Deno.test("requests say who asks", async () => {
  await withTailnet({}, async (t) => {
    await clientFor(t).listDevices();
    await clientFor(t, { userAgent: "tailscale-gateway/0.1.0" }).listDevices();
    const agents = t.api.requests.map(({ userAgent }) => userAgent);
    const [plain, named] = ["tailscale-gateway", "tailscale-gateway/0.1.0"];
    assertEquals(agents, [plain, plain, named, named]);
  });
});

Deno.test("the client works over the API in process, without a socket", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor({ ...t, url: "http://tailnet.invalid" }, {
      fetch: t.api.fetch,
    });
    assertEquals(await client.checkScopes(), { missing: [] });
  });
});
