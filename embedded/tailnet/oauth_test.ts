import { assertEquals, assertMatch } from "@std/assert";
import { OPERATOR_CLIENT, tokenFor, withTailnet } from "./testing.ts";

const SECRET = OPERATOR_CLIENT.clientSecret;

async function ask(url: string, init: RequestInit) {
  const response = await fetch(`${url}/api/v2/oauth/token`, { method: "POST", ...init });
  return { status: response.status, json: await response.json() };
}

async function devicesStatus(url: string, authorization: string) {
  const headers = { authorization };
  const response = await fetch(`${url}/api/v2/tailnet/-/devices`, { headers });
  await response.body?.cancel();
  return response.status;
}

Deno.test("a token comes for a form and for Basic, and tells scopes and tags", async () => {
  await withTailnet({}, async ({ url }) => {
    const form = new URLSearchParams({ client_secret: SECRET, grant_type: "client_credentials" });
    const basic = `Basic ${btoa(`any:${encodeURIComponent(SECRET)}`)}`;
    for (const init of [{ body: form }, { headers: { authorization: basic } }]) {
      const { status, json } = await ask(url, init);
      assertEquals(status, 200);
      assertMatch(json.access_token, /^tskey-api-/);
      assertEquals(json.expires_in, 3600);
      assertEquals(json.scope, "devices:core auth_keys services");
      assertEquals(json.tags, "tag:k8s-operator");
    }
  });
});

Deno.test("a wrong secret gets 401, another grant type 400", async () => {
  await withTailnet({}, async ({ url }) => {
    const invalid = { status: 401, json: { message: "API token invalid" } };
    const wrong = new URLSearchParams({ client_id: OPERATOR_CLIENT.clientId, client_secret: "x" });
    assertEquals(await ask(url, { body: wrong }), invalid);
    assertEquals(await ask(url, { body: "" }), invalid);
    assertEquals(await ask(url, { headers: { authorization: "Basic =a" } }), invalid);
    const other = new URLSearchParams({ client_secret: SECRET, grant_type: "password" });
    assertEquals((await ask(url, { body: other })).status, 400);
  });
});

Deno.test("a token is good as Bearer and as the user of Basic, until it expires or is revoked", async () => {
  await withTailnet({ tokenTtlSeconds: 60 }, async ({ url, clock, api }) => {
    const token = await tokenFor(url);
    assertEquals(await devicesStatus(url, `Bearer ${token}`), 200);
    assertEquals(await devicesStatus(url, `Basic ${btoa(`${token}:`)}`), 200);
    assertEquals(await devicesStatus(url, "Bearer other"), 401);
    assertEquals(await devicesStatus(url, ""), 401);
    clock.advance(60_000);
    assertEquals(await devicesStatus(url, `Bearer ${token}`), 401);
    const second = await tokenFor(url);
    api.revokeTokens();
    assertEquals(await devicesStatus(url, `Bearer ${second}`), 401);
  });
});

Deno.test("a rotated secret and changed scopes count for the tokens to come", async () => {
  await withTailnet({}, async ({ url, api }) => {
    const old = await tokenFor(url);
    api.updateClient(OPERATOR_CLIENT.clientId, { clientSecret: "new", scopes: ["auth_keys"] });
    assertEquals(await devicesStatus(url, `Bearer ${old}`), 200);
    const token = await tokenFor(url, { ...OPERATOR_CLIENT, clientSecret: "new" });
    assertEquals(await devicesStatus(url, `Bearer ${token}`), 403);
    const form = new URLSearchParams({ client_secret: SECRET });
    assertEquals((await ask(url, { body: form })).status, 401);
  });
});
