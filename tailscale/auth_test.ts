import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { OPERATOR_CLIENT, type TestTailnet, withTailnet } from "../embedded/tailnet/testing.ts";
import { CredentialsInvalid, RateLimited, Unavailable } from "./errors.ts";
import { clientFor, withServer } from "./testing.ts";
import { FakeClock } from "../core/clock_fake.ts";

const HOUR = 3_600_000;

function tokenRequests({ api }: TestTailnet): number {
  return api.requests.filter(({ path }) => path === "/api/v2/oauth/token").length;
}

function many(count: number, call: () => Promise<unknown>): Promise<unknown[]> {
  return Promise.all(Array.from({ length: count }, call));
}

Deno.test("100 calls at once, at first and again at expiry, ask for one token each time", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    await many(100, () => client.listDevices());
    assertEquals(tokenRequests(t), 1);
    t.clock.advance(HOUR);
    await many(100, () => client.listDevices());
    assertEquals(tokenRequests(t), 2);
  });
});

Deno.test("100 calls with a revoked token ask for one new token, and all succeed", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    await client.listDevices();
    t.api.revokeTokens();
    await many(100, () => client.listDevices());
    assertEquals(tokenRequests(t), 2);
  });
});

Deno.test("a token is renewed a minute before it expires, so that none is ever refused", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    await client.listDevices();
    t.clock.advance(HOUR - 60_001);
    await client.listDevices();
    assertEquals(tokenRequests(t), 1);
    t.clock.advance(1);
    await client.listDevices();
    assertEquals(tokenRequests(t), 2);
    assertEquals(t.api.requests.filter(({ status }) => status === 401), []);
  });
});

Deno.test("a token of a short life is used for most of it", async () => {
  await withTailnet({ tokenTtlSeconds: 20 }, async (t) => {
    const client = clientFor(t);
    await client.listDevices();
    t.clock.advance(14_000);
    await client.listDevices();
    assertEquals(tokenRequests(t), 1);
    t.clock.advance(1_000);
    await client.listDevices();
    assertEquals(tokenRequests(t), 2);
  });
});

Deno.test("while renewal fails, the token is used until it expires", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    await client.listDevices();
    t.clock.advance(HOUR - 30_000);
    t.api.failNext({ status: 502, path: /oauth/, times: 2 });
    await client.listDevices();
    t.clock.advance(30_000);
    await assertRejects(() => client.listDevices(), Unavailable, "oauth/token");
    await client.listDevices();
  });
});

Deno.test("a wrong secret is CredentialsInvalid at once, and a mended one works without a restart", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    t.api.updateClient(OPERATOR_CLIENT.clientId, { clientSecret: "rotated" });
    const error = await assertRejects(() => client.listDevices(), CredentialsInvalid);
    assertEquals(error.status, 401);
    assertStringIncludes(error.message, "API token invalid");
    assertStringIncludes(error.message, "in the Secret");
    assertEquals(tokenRequests(t), 1);
    const { clientId } = OPERATOR_CLIENT;
    const mended = clientFor(t, { credential: { clientId, clientSecret: "rotated" } });
    assertEquals(await mended.listDevices(), []);
  });
});

Deno.test("OAuth's own way to refuse a client, status 400, is CredentialsInvalid too", async () => {
  await withTailnet({}, async (t) => {
    t.api.failNext({ status: 400, body: '{"error":"invalid_client"}' });
    const error = await assertRejects(() => clientFor(t).listDevices(), CredentialsInvalid);
    assertStringIncludes(error.message, OPERATOR_CLIENT.clientId);
    assertEquals(error.status, 400);
  });
});

Deno.test("a fresh token that is refused as well ends in CredentialsInvalid, after one more try", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    t.api.failNext({ status: 401, path: /devices/, times: 2 });
    await assertRejects(() => client.listDevices(), CredentialsInvalid);
    assertEquals(t.api.requests.length, 4);
    assertEquals(await client.listDevices(), []);
  });
});

Deno.test("a 429 of the token endpoint is RateLimited, with the wait it asks for", async () => {
  await withTailnet({}, async (t) => {
    t.api.failNext({ status: 429, retryAfter: 9, path: /oauth/ });
    const error = await assertRejects(() => clientFor(t).listDevices(), RateLimited);
    assertEquals(error.retryAfterMs, 9_000);
  });
});

Deno.test("scopes and tags of the token are known after the first call, where they are told", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    assertEquals([client.scopes, client.grantedTags], [undefined, undefined]);
    await client.listDevices();
    assertEquals(client.scopes, ["devices:core", "auth_keys", "services"]);
    assertEquals(client.grantedTags, ["tag:k8s-operator"]);
  });
  await withServer(() => Response.json({ devices: [] }), async (url) => {
    const client = clientFor({ url, clock: new FakeClock() });
    await client.listDevices();
    assert(client.scopes === undefined);
  });
});
