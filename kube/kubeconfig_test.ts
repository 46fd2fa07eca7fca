import { assertEquals, assertRejects } from "@std/assert";
import { stringify } from "yaml";
import { KubeConfigError } from "./errors.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { Folder, kubeconfig, PEM } from "./testing/kubeconfig.ts";

Deno.test("loadKubeconfig() reads a token, data and the namespace", async () => {
  const data = { "certificate-authority-data": btoa(PEM) };
  await using folder = await Folder.with({ config: kubeconfig({ token: "t" }, data) });
  const config = await loadKubeconfig({ path: `${folder.path}/config` });
  assertEquals(config.server, "https://127.0.0.1:6443");
  assertEquals(config.namespace, "apps");
  assertEquals(config.caCerts, [PEM]);
  assertEquals(await config.token?.(), "t");
});

Deno.test("loadKubeconfig() finds files beside the kubeconfig, and a token file that rotates", async () => {
  const user = { "client-certificate": "u.crt", "client-key": "u.key", tokenFile: "token" };
  await using folder = await Folder.with({
    config: kubeconfig(user, { "certificate-authority": "ca.crt" }),
    "ca.crt": PEM,
    "u.crt": PEM,
    "u.key": PEM,
    token: "one",
  });
  const config = await loadKubeconfig({ path: `${folder.path}/config` });
  assertEquals([config.caCerts, config.cert, config.key], [[PEM], PEM, PEM]);
  assertEquals(await config.token?.(), "one");
  await Deno.writeTextFile(`${folder.path}/token`, "two");
  assertEquals(await config.token?.(), "two");
  await Deno.writeTextFile(`${folder.path}/ca.crt`, `${PEM}new`);
  assertEquals((await config.reload?.())?.caCerts, [`${PEM}new`]);
});

Deno.test("loadKubeconfig() merges the files that KUBECONFIG lists, the first one wins", async () => {
  const first = { "current-context": "dev", users: [{ name: "u", user: { token: "first" } }] };
  await using folder = await Folder.with({ a: first, b: kubeconfig({ token: "second" }) });
  const { path } = folder;
  const env = (name: string) => name === "KUBECONFIG" ? `${path}/a:${path}/none:${path}/b` : "";
  assertEquals(await (await loadKubeconfig({ env })).token?.(), "first");
});

Deno.test("loadKubeconfig() reads ~/.kube/config by default", async () => {
  await using folder = await Folder.with({});
  await Deno.mkdir(`${folder.path}/.kube`);
  await Deno.writeTextFile(`${folder.path}/.kube/config`, stringify(kubeconfig({ token: "h" })));
  const env = (name: string) => name === "HOME" ? folder.path : undefined;
  assertEquals(await (await loadKubeconfig({ env })).token?.(), "h");
});

const PLUGIN = { command: "x", apiVersion: "client.authentication.k8s.io/v1" };

const REFUSED: Record<string, [content: unknown, message: string]> = {
  "an auth provider of a cloud": [
    kubeconfig({ "auth-provider": { name: "gcp" } }),
    "auth-provider gcp is not supported; oidc is",
  ],
  "an exec plugin without a command": [kubeconfig({ exec: {} }), "exec has no command"],
  "an exec plugin of an older API": [
    kubeconfig({ exec: { command: "x", apiVersion: "client.authentication.k8s.io/v1alpha1" } }),
    "v1 and v1beta1 are supported",
  ],
  "an exec plugin that asks people": [
    kubeconfig({ exec: { ...PLUGIN, interactiveMode: "Always" } }),
    "interactiveMode is Always",
  ],
  "impersonation in several groups": [
    kubeconfig({ as: "a", "as-groups": ["b", "c"] }),
    "as-groups has 2 values; exactly one is supported",
  ],
  "impersonation of a group alone": [kubeconfig({ "as-groups": ["b"] }), "need as"],
  "a server name that TLS is to check": [
    kubeconfig({}, { "tls-server-name": "api" }),
    "tls-server-name is not supported; use a server URL",
  ],
  "a proxy that is no URL": [kubeconfig({}, { "proxy-url": "proxy:3128" }), "proxy-url is no http"],
  "a certificate without its key": [
    kubeconfig({ "client-certificate-data": btoa(PEM) }),
    "go together",
  ],
  "data that is not base64": [
    kubeconfig({ "client-key-data": "%%%" }),
    "client-key-data is not base64",
  ],
  "data that is not PEM": [kubeconfig({ "client-key-data": btoa("x") }), "client-key is not PEM"],
  "a file that is not there": [
    kubeconfig({ "client-key": "gone" }),
    "gone can't be read (not there)",
  ],
  "TLS without verification": [
    kubeconfig({}, { "insecure-skip-tls-verify": true }),
    "insecure-skip-tls-verify is not supported; set certificate-authority",
  ],
  "a server that is no URL": [
    kubeconfig({}, { server: "k8s:6443" }),
    '"k8s:6443" is not an http(s)',
  ],
  "no current context": [{ contexts: [] }, "has no current-context"],
  "an unknown context": [
    { "current-context": "x", contexts: [{ name: "y" }] },
    'no context "x"; it has: y',
  ],
  "broken YAML": ["a: [", "is not valid YAML"],
  "a file without fields": ["just text", "is not a kubeconfig"],
};

for (const [what, [content, message]] of Object.entries(REFUSED)) {
  Deno.test(`loadKubeconfig() refuses ${what}, and says so`, async () => {
    await using folder = await Folder.with({ config: content });
    const load = () => loadKubeconfig({ path: `${folder.path}/config` });
    await assertRejects(load, KubeConfigError, message);
  });
}

Deno.test("loadKubeconfig() says where it looked when there is no file", async () => {
  const load = () => loadKubeconfig({ path: "/nowhere/config" });
  await assertRejects(load, KubeConfigError, "/nowhere/config can't be read (not there)");
  await assertRejects(
    () => loadKubeconfig({ env: () => undefined }),
    KubeConfigError,
    "no kubeconfig",
  );
});
