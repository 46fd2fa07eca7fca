import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { withTailnet } from "../embedded/tailnet/testing.ts";
import {
  InvalidRequest,
  MalformedResponse,
  RateLimited,
  TailscaleError,
  Unavailable,
} from "./errors.ts";
import type { ExchangeInfo } from "./http.ts";
import { RateLimiter } from "./limiter.ts";
import { clientFor, errorOf, until, withServer } from "./testing.ts";

Deno.test("after a 429 the next call goes when Retry-After says, in seconds or as a date", async () => {
  await withTailnet({}, async (t) => {
    const date = () => new Date(t.clock.now() + 37_000).toUTCString();
    for (const when of [() => "37", date]) {
      const client = clientFor(t);
      await client.listDevices();
      t.api.failNext({ status: 429, retryAfter: when(), path: /devices/ });
      const error = await assertRejects(() => client.listDevices(), RateLimited, "status 429");
      assertEquals(error.retryAfterMs, 37_000);
      const sent = t.api.requests.length;
      const early = await assertRejects(() => client.listAuthKeys(), RateLimited, "not sent");
      assertEquals(early.retryAfterMs, 37_000);
      t.clock.advance(36_999);
      await assertRejects(() => client.listDevices(), RateLimited);
      assertEquals(t.api.requests.length, sent);
      t.clock.advance(1);
      await client.listDevices();
    }
  });
});

Deno.test("M215 a 429 of one tailnet holds up no other", async () => {
  await withTailnet({}, async (one) => {
    await withTailnet({}, async (other) => {
      one.api.failNext({ status: 429, retryAfter: 600 });
      await assertRejects(() => clientFor(one).listDevices(), RateLimited);
      assertEquals(await clientFor(other).listDevices(), []);
    });
  });
});

Deno.test("M181 429s without Retry-After back off exponentially, until a call succeeds", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t, { random: () => 1 });
    await client.listDevices();
    t.api.failNext({ status: 429, path: /devices/, times: 8 });
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      const error = await assertRejects(() => client.listDevices(), RateLimited, "status 429");
      waits.push(error.retryAfterMs / 1_000);
      t.clock.advance(error.retryAfterMs);
    }
    assertEquals(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    await client.listDevices();
    t.api.failNext({ status: 429, path: /devices/ });
    const error = await assertRejects(() => client.listDevices(), RateLimited);
    assertEquals(error.retryAfterMs, 1_000);
  });
});

Deno.test("a 503 with Retry-After is Unavailable and holds calls; without, it holds none", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    t.api.failNext({ status: 503, path: /devices/ });
    const plain = await assertRejects(() => client.listDevices(), Unavailable, "status 503");
    assertEquals(plain.retryAfterMs, undefined);
    t.api.failNext({ status: 503, path: /devices/, retryAfter: 5 });
    const timed = await assertRejects(() => client.listDevices(), Unavailable);
    assertEquals(timed.retryAfterMs, 5_000);
    await assertRejects(() => client.listDevices(), RateLimited, "not sent");
    t.clock.advance(5_000);
    await client.listDevices();
  });
});

Deno.test("an HTML page for an error keeps its status and its title", async () => {
  await withServer(
    () => new Response("<html><title>Bad Gateway</title>", { status: 502 }),
    async (url) => {
      const client = clientFor({ url, clock: new FakeClock() });
      const error = await assertRejects(() => client.listDevices(), Unavailable, "Bad Gateway");
      assertEquals(error.status, 502);
    },
  );
});

Deno.test("no answer within the time for a request is Unavailable", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t, { timeoutMs: 30_000 });
    await client.listDevices();
    t.api.failNext({ mode: "hang", path: /devices/ });
    const failed = errorOf(client.listDevices());
    await until(() => t.clock.pending === 1);
    t.clock.advance(30_000);
    const error = await failed;
    assertInstanceOf(error, Unavailable);
    assertEquals(
      error.message,
      "GET /api/v2/tailnet/-/devices: no whole answer within 30 s",
    );
  });
});

Deno.test("the time for a request is total: a body that stalls counts", async () => {
  const clock = new FakeClock();
  let asked = false;
  const stalling = () => {
    asked = true;
    return new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array([123])) }));
  };
  await withServer(stalling, async (url) => {
    const failed = errorOf(clientFor({ url, clock }).listDevices());
    await until(() => asked);
    clock.advance(60_000);
    const error = await failed;
    assertInstanceOf(error, Unavailable);
    assert(error.message.includes("no whole answer within 60 s"));
  });
});

Deno.test("a server that is not there, and a connection that breaks, are Unavailable", async () => {
  const clock = new FakeClock();
  const gone = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const url = `http://127.0.0.1:${gone.addr.port}`;
  gone.close();
  const error = await assertRejects(() => clientFor({ url, clock }).listDevices(), Unavailable);
  assertEquals(error.status, undefined);
  assert(error.cause instanceof Error);
  assert(error.message.includes("refused"), error.message);
  await withTailnet({}, async (t) => {
    t.net.addHost({ name: "a" });
    t.api.failNext({ mode: "half-body", path: /devices/ });
    await assertRejects(() => clientFor(t).listDevices(), Unavailable);
  });
});

Deno.test("an answer that is too large is MalformedResponse, read no further", async () => {
  let sent = 0;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        sent++;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
  await withServer(() => new Response(endless()), async (url) => {
    const client = clientFor({ url, clock: new FakeClock() }, { maxBodyBytes: 1_000_000 });
    await assertRejects(() => client.listDevices(), MalformedResponse, "larger than 1000000 bytes");
    const error = await errorOf(client.listDevices());
    assertInstanceOf(error, TailscaleError);
    assert(sent < 1_000);
  });
});

Deno.test("10 MB that are no JSON, and 10 MB of an error page, are typed errors", async () => {
  for (const [status, type] of [[200, MalformedResponse], [500, Unavailable]] as const) {
    const answer = () => new Response("x".repeat(10_000_000), { status });
    await withServer(answer, async (url) => {
      const error = await errorOf(clientFor({ url, clock: new FakeClock() }).listDevices());
      assertInstanceOf(error, type);
      assert(error.message.length < 600);
    });
  }
});

Deno.test("a redirect is not followed, so that no secret goes elsewhere", async () => {
  let followed = false;
  const answer = (request: Request) => {
    followed ||= request.url.endsWith("/elsewhere");
    return new Response(null, { status: 302, headers: { location: "/elsewhere" } });
  };
  await withServer(answer, async (url) => {
    const client = clientFor({ url, clock: new FakeClock() });
    await assertRejects(() => client.listDevices(), InvalidRequest, "apiURL");
    assertEquals(followed, false);
  });
});

Deno.test("the client's end ends what is under way and what waits, as Unavailable", async () => {
  await withTailnet({}, async (t) => {
    const controller = new AbortController();
    const limiter = new RateLimiter({ clock: t.clock, burst: 2 });
    const client = clientFor(t, { signal: controller.signal, limiter });
    t.api.failNext({ mode: "hang", path: /devices/ });
    const hanging = errorOf(client.listDevices());
    await until(() => client.scopes !== undefined);
    const waiting = errorOf(client.listAuthKeys());
    await until(() => t.clock.pending === 2);
    controller.abort();
    assertInstanceOf(await hanging, Unavailable);
    assertInstanceOf(await waiting, Unavailable);
    assertInstanceOf(await errorOf(client.listDevices()), Unavailable);
    assertEquals(t.clock.pending, 0);
  });
});

Deno.test("each exchange is told of, with what it was, its status and its length", async () => {
  await withTailnet({}, async (t) => {
    const told: ExchangeInfo[] = [];
    const client = clientFor(t, { onExchange: (info) => told.push(info) });
    await client.listDevices();
    t.api.failNext({ mode: "half-body", path: /keys/ });
    await errorOf(client.listAuthKeys());
    assertEquals(told, [
      { operation: "getToken", status: 200, durationMs: 0 },
      { operation: "listDevices", status: 200, durationMs: 0 },
      { operation: "listAuthKeys", durationMs: 0 },
    ]);
  });
});
