import { assertEquals, assertThrows } from "@std/assert";
import { loadKubeconfig } from "./kubeconfig.ts";
import { impersonationHeaders } from "./impersonation.ts";
import { Folder, kubeconfig } from "./testing/kubeconfig.ts";
import { ScriptedServer } from "./testing/scripted.ts";
import { createTransport } from "./transport.ts";

/** The headers of a request with this user and this cluster. */
async function sentBy(
  user: Record<string, unknown>,
  cluster: (url: string) => Record<string, unknown>,
): Promise<{ url: string; headers: Headers }> {
  let seen: { url: string; headers: Headers } | undefined;
  await using server = new ScriptedServer((request) => {
    seen = { url: request.url, headers: new Headers(request.headers) };
    return Response.json({});
  });
  await using folder = await Folder.with({ config: kubeconfig(user, cluster(server.url)) });
  const transport = createTransport(await loadKubeconfig({ path: `${folder.path}/config` }));
  await transport.request("/version");
  transport.close();
  return seen!;
}

const direct = (server: string) => ({ server });

Deno.test("a kubeconfig that acts as somebody else says so with each request", async () => {
  const { headers } = await sentBy({
    token: "t",
    as: "jane",
    "as-uid": "u-1",
    "as-groups": ["dev"],
    "as-user-extra": { "acme.example/team": ["web"] },
  }, direct);
  assertEquals(headers.get("authorization"), "Bearer t");
  assertEquals(headers.get("impersonate-user"), "jane");
  assertEquals(headers.get("impersonate-uid"), "u-1");
  assertEquals(headers.get("impersonate-group"), "dev");
  assertEquals(headers.get("impersonate-extra-acme.example%2Fteam"), "web");
});

Deno.test("impersonationHeaders() refuses what Deno could not send as it is meant", () => {
  assertEquals(impersonationHeaders({ token: "t" }), {});
  for (const field of ["as-groups", "as-user-extra"]) {
    const value = field === "as-groups" ? ["a", "b"] : { k: ["a", "b"] };
    assertThrows(() => impersonationHeaders({ as: "x", [field]: value }), TypeError, "2 values");
  }
  assertThrows(() => impersonationHeaders({ "as-uid": "1" }), TypeError, "need as");
});

Deno.test("a name and a password are sent as basic authentication, of which a token has precedence", async () => {
  const user = { username: "jane", password: "pässword" };
  const { headers } = await sentBy(user, direct);
  const bytes = new TextEncoder().encode("jane:pässword");
  assertEquals(headers.get("authorization"), `Basic ${bytes.toBase64()}`);
  const both = await sentBy({ ...user, token: "t" }, direct);
  assertEquals(both.headers.get("authorization"), "Bearer t");
});

Deno.test("requests go through the proxy that a cluster names, with its password", async () => {
  const { url, headers } = await sentBy({ token: "t" }, (proxy) => ({
    server: "http://api.test",
    "proxy-url": proxy.replace("//", "//me:se%20cret@"),
  }));
  assertEquals(new URL(url).pathname, "/version");
  assertEquals(headers.get("host"), "api.test");
  assertEquals(headers.get("proxy-authorization"), `Basic ${btoa("me:se cret")}`);
});
