import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../core/clock_fake.ts";
import { TestServer } from "./testing.ts";

const ACCOUNT = "/api/v1/namespaces/default/serviceaccounts";
const TOKEN = `${ACCOUNT}/operator/token`;

async function server(): Promise<TestServer> {
  const test = new TestServer({ clock: new FakeClock(Date.parse("2026-03-01T12:00:00Z")) });
  const body = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "operator" } };
  assertEquals((await test.call("POST", ACCOUNT, { body })).status, 201);
  return test;
}

Deno.test("a TokenRequest gives a token of the account for the audience, signed by the key that is served", async () => {
  const test = await server();
  const body = { spec: { audiences: ["api.tailscale.com/k1"], expirationSeconds: 900 } };
  const { status, body: answer } = await test.call("POST", TOKEN, { body });
  assertEquals([status, answer.kind], [201, "TokenRequest"]);
  assertEquals(answer.status.expirationTimestamp, "2026-03-01T12:15:00Z");
  const [head = "", payload = "", signature = ""] = answer.status.token.split(".");
  const decode = (part: string) => Uint8Array.fromBase64(part, { alphabet: "base64url" });
  const claims = JSON.parse(new TextDecoder().decode(decode(payload)));
  assertEquals(claims.sub, "system:serviceaccount:default:operator");
  assertEquals(claims.aud, ["api.tailscale.com/k1"]);
  assertEquals(claims.exp - claims.iat, 900);
  const { body: { keys } } = await test.call("GET", "/openid/v1/jwks");
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key = await crypto.subtle.importKey("jwk", keys[0], algorithm, false, ["verify"]);
  const signed = new TextEncoder().encode(`${head}.${payload}`);
  const how = { name: "ECDSA", hash: "SHA-256" };
  assert(await crypto.subtle.verify(how, key, decode(signature), signed));
});

Deno.test("a TokenRequest for an account that is not there, or for too short a time, is refused", async () => {
  const test = await server();
  const short = await test.call("POST", TOKEN, { body: { spec: { expirationSeconds: 60 } } });
  assertEquals(short.status, 422);
  assertEquals((await test.call("POST", `${ACCOUNT}/none/token`, { body: {} })).status, 404);
  assertEquals((await test.call("GET", TOKEN)).status, 405);
});
