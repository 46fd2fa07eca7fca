import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { KubeConfigError } from "./errors.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { Folder, kubeconfig } from "./testing/kubeconfig.ts";
import { certificate } from "./testing/tls.ts";
import { ScriptedServer } from "./testing/scripted.ts";
import { createTransport } from "./transport.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const HOUR = 3_600_000;

/** A token, numbered, that expires then. */
function idToken(n: number, expiresAt: number): string {
  const payload = new TextEncoder().encode(JSON.stringify({ n, exp: expiresAt / 1000 }));
  return `e30.${payload.toBase64({ alphabet: "base64url", omitPadding: true })}.c2ln`;
}

/** An OpenID Connect provider whose refresh tokens serve once. */
class Issuer implements AsyncDisposable {
  readonly clock = new FakeClock(NOW);
  readonly url: string;
  /** The refresh token that is good. */
  refreshToken = "r1";
  tokens = 1;
  readonly authorizations: (string | null)[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    const options = {
      hostname: "127.0.0.1",
      port: 0,
      cert: certificate("server.crt"),
      key: certificate("server.key"),
      onListen() {},
    };
    this.#server = Deno.serve(options, (request) => this.#answer(request));
    this.url = `https://127.0.0.1:${this.#server.addr.port}`;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/.well-known/openid-configuration") {
      return Response.json({ issuer: this.url, token_endpoint: `${this.url}/token` });
    }
    this.authorizations.push(request.headers.get("authorization"));
    const form = new URLSearchParams(await request.text());
    if (form.get("refresh_token") !== this.refreshToken) {
      const refusal = { error: "invalid_grant", error_description: "revoked" };
      return Response.json(refusal, { status: 400 });
    }
    this.refreshToken = `r${++this.tokens}`;
    const id_token = idToken(this.tokens, this.clock.now() + HOUR);
    return Response.json({ id_token, refresh_token: this.refreshToken, access_token: "a" });
  }

  /** A kubeconfig of a user of it. */
  async config(rest: Record<string, string> = {}, server = "https://127.0.0.1:6443") {
    const config = {
      "idp-issuer-url": this.url,
      "idp-certificate-authority-data": btoa(certificate("ca.crt")),
      "client-id": "kubectl",
      "client-secret": "s/ecret",
      "id-token": idToken(1, NOW + HOUR),
      "refresh-token": "r1",
      ...rest,
    };
    const user = { "auth-provider": { name: "oidc", config } };
    await using folder = await Folder.with({ config: kubeconfig(user, { server }) });
    return await loadKubeconfig({ path: `${folder.path}/config`, clock: this.clock });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

Deno.test("an OIDC token of the kubeconfig is used, and renewed each time before it expires", async () => {
  await using issuer = new Issuer();
  const { token } = await issuer.config();
  assertEquals(await token?.(), idToken(1, NOW + HOUR));
  assertEquals(issuer.authorizations, [], "nobody was asked yet");
  issuer.clock.advance(HOUR - 60_000);
  assertEquals(await token?.(), idToken(2, NOW + 2 * HOUR - 60_000));
  issuer.clock.advance(HOUR);
  assertEquals(await token?.(), idToken(3, NOW + 3 * HOUR - 60_000), "with the new refresh token");
  assertEquals(issuer.authorizations[0], `Basic ${btoa("kubectl:s%2Fecret")}`);
});

Deno.test("an OIDC token that has expired when the kubeconfig is read is renewed at once", async () => {
  await using issuer = new Issuer();
  const { token } = await issuer.config({ "id-token": idToken(1, NOW - 1), "client-secret": "" });
  assertEquals(await token?.(), idToken(2, NOW + HOUR));
  assertEquals(issuer.authorizations, [null], "a client without a secret is only named");
});

Deno.test("an OIDC token that the API server refuses is renewed by the request that finds out", async () => {
  await using issuer = new Issuer();
  const good = `Bearer ${idToken(2, NOW + HOUR + 10_000)}`;
  await using server = new ScriptedServer((request) =>
    Response.json({}, { status: request.headers.get("authorization") === good ? 200 : 401 })
  );
  const transport = createTransport(await issuer.config({}, server.url));
  issuer.clock.advance(10_000);
  assertEquals((await transport.request("/version")).status, 200);
  transport.close();
});

for (
  const [what, rest, message] of [
    ["without a refresh token", { "refresh-token": "" }, "there is no refresh-token: log in again"],
    ["with a revoked one", { "refresh-token": "r0" }, "400: invalid_grant, revoked; log in again"],
    ["whose CA is another", { "idp-certificate-authority-data": "" }, "can't be reached"],
  ] as const
) {
  Deno.test(`an expired OIDC token ${what} is a KubeConfigError that says so`, async () => {
    await using issuer = new Issuer();
    const expired = { "id-token": idToken(1, NOW - 1), ...rest };
    const error = await assertRejects(() => issuer.config(expired), KubeConfigError);
    assertStringIncludes(error.message, message);
    assert(!error.message.includes("s/ecret"), error.message);
  });
}
