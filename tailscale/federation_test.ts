import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import {
  FEDERATED,
  federatedClient,
  identityToken,
  type TestTailnet,
  withTailnet,
} from "../embedded/tailnet/testing.ts";
import { CredentialsInvalid, IdTokenUnavailable } from "./errors.ts";
import { clientFor } from "./testing.ts";

const HOUR = 3_600_000;
const { clientId } = FEDERATED;

/** A tailnet, and what the client shows it: by default a good token, a new one each time. */
async function federated(
  test: (t: TestTailnet, show: { token: () => Promise<string>; shown: number }) => Promise<void>,
): Promise<void> {
  await withTailnet({ federated: [await federatedClient()] }, async (t) => {
    const show = { token: () => identityToken({}, t.clock.now()), shown: 0 };
    await test(t, show);
  });
}

function client(t: TestTailnet, show: { token: () => Promise<string>; shown: number }) {
  const idToken = () => {
    show.shown++;
    return show.token();
  };
  return clientFor({ ...t, credential: { clientId, idToken } });
}

Deno.test("M232 M65 an identity token is exchanged once for all calls until Tailscale's own expires", () =>
  federated(async (t, show) => {
    const api = client(t, show);
    await Promise.all(Array.from({ length: 20 }, () => api.listDevices()));
    assertEquals([show.shown, api.scopes], [1, ["devices:core", "auth_keys", "services"]]);
    t.clock.advance(HOUR - 60_001);
    await api.listDevices();
    assertEquals(show.shown, 1);
    t.clock.advance(1);
    await api.listDevices();
    assertEquals(show.shown, 2);
    assertEquals(t.api.requests.filter(({ status }) => status >= 400), []);
  }));

Deno.test("a token that Tailscale revoked costs one exchange, and no call fails", () =>
  federated(async (t, show) => {
    const api = client(t, show);
    await api.listDevices();
    t.api.revokeTokens();
    await api.listDevices();
    assertEquals(show.shown, 2);
  }));

for (
  const [what, claims] of Object.entries({
    "another subject": { sub: "system:serviceaccount:other:operator" },
    "another audience": { aud: "https://kubernetes.default.svc" },
    "another issuer": { iss: "https://elsewhere" },
  })
) {
  Deno.test(`a token for ${what} is CredentialsInvalid, says what to check, and shows no token`, () =>
    federated(async (t, show) => {
      const token = await identityToken(claims, t.clock.now());
      show.token = () => Promise.resolve(token);
      const error = await assertRejects(() => client(t, show).listDevices(), CredentialsInvalid);
      assertStringIncludes(error.message, "client_id and audience in the Secret");
      const all = `${error.message} ${error.cause}`;
      assert(!all.includes(token) && !all.includes("eyJ"), all);
    }));
}

Deno.test("an expired token is not sent at all", () =>
  federated(async (t, show) => {
    show.token = () => identityToken({ exp: 1 }, t.clock.now());
    await assertRejects(() => client(t, show).listDevices(), IdTokenUnavailable, "expired");
    assertEquals(t.api.requests.length, 0);
  }));

Deno.test("while no identity token can be had, Tailscale's own is used until it expires", () =>
  federated(async (t, show) => {
    const api = client(t, show);
    await api.listDevices();
    const why = new IdTokenUnavailable("the API server is away", { what: "test" });
    show.token = () => Promise.reject(why);
    t.clock.advance(HOUR - 30_000);
    await api.listDevices();
    t.clock.advance(30_000);
    assertEquals(await assertRejects(() => api.listDevices()), why);
  }));
