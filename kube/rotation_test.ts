/** Figure 14: whatever is rotated, no request fails, and at most one is sent in vain. */
import { assertEquals } from "@std/assert";
import { inClusterConfig } from "./config.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { Folder, kubeconfig } from "./testing/kubeconfig.ts";
import { certificate, TlsServer } from "./testing/tls.ts";
import { createTransport, type Transport } from "./transport.ts";

/** An API server over TLS that knows one token, and notes what it answers. */
class TokenServer implements AsyncDisposable {
  token = "one";
  readonly statuses: number[] = [];
  /** Done while a request is under way, before it is judged. */
  meanwhile: (() => Promise<void>) | undefined;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor() {
    const tls = { cert: certificate("server.crt"), key: certificate("server.key") };
    const options = { ...tls, hostname: "127.0.0.1", port: 0, onListen() {} };
    this.#server = Deno.serve(options, async (request) => {
      await this.meanwhile?.();
      this.meanwhile = undefined;
      const known = request.headers.get("authorization") === `Bearer ${this.token}`;
      this.statuses.push(known ? 200 : 401);
      return Response.json({}, { status: known ? 200 : 401 });
    });
  }

  /** The environment of a pod of this cluster. */
  readonly env = (name: string) => {
    const { hostname, port } = this.#server.addr;
    return name.endsWith("_HOST") ? hostname : name.endsWith("_PORT") ? String(port) : undefined;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** A pod's service account, and a transport of whoever runs there. */
async function pod(server: TokenServer, ca = certificate("ca.crt")) {
  const folder = await Folder.with({ "ca.crt": ca, token: "one", namespace: "tailscale" });
  const config = await inClusterConfig({ folder: folder.path, env: server.env });
  return { folder, transport: createTransport(config!) };
}

async function statuses(transport: Transport, count: number): Promise<number[]> {
  const answers = Array.from({ length: count }, () => transport.request("/version"));
  return (await Promise.all(answers)).map(({ status }) => status);
}

Deno.test("figure 14: a service account token that is rotated counts for the next request", async () => {
  await using server = new TokenServer();
  const { folder, transport } = await pod(server);
  await using _ = folder;
  await transport.request("/version");
  await Deno.writeTextFile(`${folder.path}/token`, "two");
  server.token = "two";
  assertEquals(await statuses(transport, 20), Array(20).fill(200));
  assertEquals(server.statuses, Array(21).fill(200), "the API server refused nobody");
  transport.close();
});

Deno.test("figure 14: a token that is rotated while a request is under way costs one 401, which nobody sees", async () => {
  await using server = new TokenServer();
  const { folder, transport } = await pod(server);
  await using _ = folder;
  server.meanwhile = async () => {
    await Deno.writeTextFile(`${folder.path}/token`, "two");
    server.token = "two";
  };
  assertEquals((await transport.request("/version")).status, 200);
  assertEquals(server.statuses, [401, 200]);
  transport.close();
});

Deno.test("figure 14: a CA that is rotated in the service account's folder is taken up by the next request", async () => {
  await using server = new TokenServer();
  const { folder, transport } = await pod(server, certificate("other.crt"));
  await using _ = folder;
  await Deno.writeTextFile(`${folder.path}/ca.crt`, certificate("ca.crt"));
  assertEquals(await statuses(transport, 5), Array(5).fill(200));
  transport.close();
});

Deno.test("figure 14: a kubeconfig whose client certificate is replaced is taken up by the next request", async () => {
  await using server = new TlsServer();
  const user = { "client-certificate": "u.crt", "client-key": "u.key" };
  const data = { "certificate-authority-data": btoa(certificate("ca.crt")) };
  await using folder = await Folder.with({
    config: kubeconfig(user, { server: await server.url, ...data }),
    "u.crt": certificate("client.crt"),
    "u.key": certificate("client.key"),
  });
  const transport = createTransport(await loadKubeconfig({ path: `${folder.path}/config` }));
  assertEquals((await transport.request("/x")).status, 200);
  server.refused = "operator";
  await Deno.writeTextFile(`${folder.path}/u.crt`, certificate("other.crt"));
  await Deno.writeTextFile(`${folder.path}/u.key`, certificate("other.key"));
  assertEquals((await transport.request("/x")).status, 200);
  transport.close();
});

Deno.test("figure 14: a token that is replaced in the kubeconfig itself is taken up by the request that finds out", async () => {
  await using server = new TokenServer();
  const url = `https://${server.env("_HOST")}:${server.env("_PORT")}`;
  const cluster = { server: url, "certificate-authority-data": btoa(certificate("ca.crt")) };
  await using folder = await Folder.with({ config: kubeconfig({ token: "one" }, cluster) });
  const path = `${folder.path}/config`;
  const transport = createTransport(await loadKubeconfig({ path }));
  assertEquals((await transport.request("/x")).status, 200);
  server.token = "two";
  await Deno.writeTextFile(path, JSON.stringify(kubeconfig({ token: "two" }, cluster)));
  assertEquals((await transport.request("/x")).status, 200);
  assertEquals(server.statuses, [200, 401, 200]);
  transport.close();
});
