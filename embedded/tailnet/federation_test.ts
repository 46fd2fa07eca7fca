import { assertEquals, assertMatch } from "@std/assert";
import { FEDERATED, federatedClient, identityToken, withTailnet } from "./testing.ts";

async function exchange(url: string, form: Record<string, string>) {
  const response = await fetch(`${url}/api/v2/oauth/token-exchange`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  return { status: response.status, json: await response.json() };
}

Deno.test("a token of the registered issuer, subject and audience is exchanged for one of the API", async () => {
  await withTailnet({ federated: [await federatedClient()] }, async ({ url, clock }) => {
    const jwt = await identityToken({}, clock.now());
    const { status, json } = await exchange(url, { client_id: FEDERATED.clientId, jwt });
    assertEquals([status, json.token_type, json.expires_in], [200, "Bearer", 3600]);
    assertEquals([json.scope, json.tags], ["devices:core auth_keys services", undefined]);
    const headers = { authorization: `Bearer ${json.access_token}` };
    const devices = await fetch(`${url}/api/v2/tailnet/-/devices`, { headers });
    assertEquals((await devices.json()).devices, []);
  });
});

for (
  const [what, claims, message] of [
    ["another issuer", { iss: "https://elsewhere" }, /issuer/],
    ["another subject", { sub: "system:serviceaccount:other:operator" }, /subject/],
    ["another audience", { aud: ["somebody"] }, /audience/],
    ["an end in the past", { exp: 1 }, /expired/],
    ["another signer", { signer: "stranger" }, /signature/],
  ] as const
) {
  Deno.test(`a token with ${what} is refused with 401`, async () => {
    await withTailnet({ federated: [await federatedClient()] }, async ({ url, clock }) => {
      const jwt = await identityToken(claims, clock.now());
      const { status, json } = await exchange(url, { client_id: FEDERATED.clientId, jwt });
      assertEquals(status, 401);
      assertMatch(json.message, message);
    });
  });
}

Deno.test("an unknown client and a token that is none are refused", async () => {
  await withTailnet({ federated: [await federatedClient()] }, async ({ url }) => {
    assertEquals((await exchange(url, { client_id: "k", jwt: "a.b.c" })).status, 401);
    const malformed = await exchange(url, { client_id: FEDERATED.clientId, jwt: "a.b" });
    assertEquals(malformed.status, 400);
  });
});
