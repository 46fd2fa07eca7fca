import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { inClusterConfig } from "./config.ts";
import { KubeConfigError } from "./errors.ts";

const CLUSTER: Record<string, string> = {
  KUBERNETES_SERVICE_HOST: "10.0.0.1",
  KUBERNETES_SERVICE_PORT: "443",
};

/** A service account's folder. */
async function serviceAccount(): Promise<string> {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(`${folder}/ca.crt`, "-----BEGIN CERTIFICATE-----");
  await Deno.writeTextFile(`${folder}/token`, "first\n");
  await Deno.writeTextFile(`${folder}/namespace`, "tailscale");
  return folder;
}

Deno.test("inClusterConfig() is undefined outside a cluster", async () => {
  assertEquals(await inClusterConfig({ env: () => undefined }), undefined);
});

Deno.test("inClusterConfig() reads the service account, and its token anew for each use", async () => {
  const folder = await serviceAccount();
  const config = await inClusterConfig({ folder, env: (name) => CLUSTER[name] });
  assertEquals(config?.server, "https://10.0.0.1:443");
  assertEquals(config?.namespace, "tailscale");
  assertEquals(await config?.token?.(), "first");
  await Deno.writeTextFile(`${folder}/token`, "second");
  assertEquals(await config?.token?.(), "second");
  await Deno.remove(`${folder}/token`);
  assertEquals(await config?.token?.(), "second", "the last one, while the file is replaced");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("inClusterConfig() writes an IPv6 address as URLs want it", async () => {
  const folder = await serviceAccount();
  const env = (name: string) => name.endsWith("HOST") ? "fd00::1" : "6443";
  assertEquals((await inClusterConfig({ folder, env }))?.server, "https://[fd00::1]:6443");
  await Deno.remove(folder, { recursive: true });
});

Deno.test("inClusterConfig() says what to do when there is no token", async () => {
  const folder = await serviceAccount();
  await Deno.remove(`${folder}/token`);
  const error = await assertRejects(
    () => inClusterConfig({ folder, env: (name) => CLUSTER[name] }),
    KubeConfigError,
  );
  assertStringIncludes(error.message, `${folder}/token can't be read (not there)`);
  assertStringIncludes(error.message, "automountServiceAccountToken");
  await Deno.remove(folder, { recursive: true });
});
