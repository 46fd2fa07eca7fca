import { assertEquals } from "@std/assert";
import type { JsonMap } from "./json.ts";
import { CONFIG_MAPS, configMap, TestServer } from "./testing.ts";

/** Makes a ConfigMap that is owned by others; answers its uid. */
async function owned(
  api: TestServer,
  name: string,
  { owners = [], finalizers = [], block = true }: {
    owners?: { name: string; uid: string }[];
    finalizers?: string[];
    block?: boolean;
  } = {},
): Promise<{ name: string; uid: string }> {
  const ownerReferences = owners.map((owner): JsonMap => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    ...owner,
    blockOwnerDeletion: block,
  }));
  const metadata = { ownerReferences, finalizers };
  const { body } = await api.post(CONFIG_MAPS, configMap(name, { metadata }));
  return { name, uid: body.metadata.uid };
}

async function names(api: TestServer): Promise<string[]> {
  const { body } = await api.get(CONFIG_MAPS);
  return body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
}

Deno.test("what an object owns goes after it, and what that owns too", async () => {
  const api = new TestServer();
  const a = await owned(api, "a");
  const b = await owned(api, "b", { owners: [a] });
  await owned(api, "c", { owners: [b] });
  await owned(api, "other");
  await api.delete(`${CONFIG_MAPS}/a`, { propagationPolicy: "Background" });
  assertEquals(await names(api), ["other"]);
});

Deno.test("an object with another owner stays, without the reference that is gone", async () => {
  const api = new TestServer();
  const [a, b] = [await owned(api, "a"), await owned(api, "b")];
  await owned(api, "c", { owners: [a, b] });
  await api.delete(`${CONFIG_MAPS}/a`);
  const { body } = await api.get(`${CONFIG_MAPS}/c`);
  assertEquals(body.metadata.ownerReferences.map((ref: { name: string }) => ref.name), ["b"]);
});

Deno.test("an object whose owner never was is collected", async () => {
  const api = new TestServer();
  await owned(api, "a", { owners: [{ name: "ghost", uid: "no-such-uid" }] });
  assertEquals(await names(api), []);
});

Deno.test("an owner of a kind that is not served counts as there", async () => {
  const api = new TestServer();
  const ownerReferences = [{ apiVersion: "x.io/v1", kind: "X", name: "x", uid: "u" }];
  await api.post(CONFIG_MAPS, configMap("a", { metadata: { ownerReferences } }));
  assertEquals(await names(api), ["a"]);
});

Deno.test("a foreground deletion waits for dependents that block it", async () => {
  const api = new TestServer();
  const a = await owned(api, "a");
  await owned(api, "b", { owners: [a], finalizers: ["x.io/wait"] });
  const { body } = await api.delete(`${CONFIG_MAPS}/a`, { propagationPolicy: "Foreground" });
  assertEquals(body.metadata.finalizers, ["foregroundDeletion"]);
  assertEquals(await names(api), ["a", "b"]);
  await api.mergePatch(`${CONFIG_MAPS}/b`, { metadata: { finalizers: null } });
  assertEquals(await names(api), []);
});

Deno.test("a foreground deletion does not wait for dependents that do not block it", async () => {
  const api = new TestServer();
  const a = await owned(api, "a");
  await owned(api, "b", { owners: [a], finalizers: ["x.io/wait"], block: false });
  await api.delete(`${CONFIG_MAPS}/a`, { propagationPolicy: "Foreground" });
  assertEquals(await names(api), ["b"]);
});

Deno.test("an orphaning deletion leaves what the object owned, ownerless", async () => {
  const api = new TestServer();
  const a = await owned(api, "a");
  await owned(api, "b", { owners: [a] });
  await api.delete(`${CONFIG_MAPS}/a?propagationPolicy=Orphan`);
  assertEquals(await names(api), ["b"]);
  const { body } = await api.get(`${CONFIG_MAPS}/b`);
  assertEquals(body.metadata.ownerReferences, undefined);
});

Deno.test("a namespace goes when all within it is gone, and takes nothing new until then", async () => {
  const api = new TestServer();
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "apps" } };
  await api.post("/api/v1/namespaces", namespace);
  const maps = "/api/v1/namespaces/apps/configmaps";
  await api.post(maps, configMap("a"));
  await api.post(maps, configMap("b", { metadata: { finalizers: ["x.io/wait"] } }));
  const deleted = await api.delete("/api/v1/namespaces/apps");
  assertEquals(deleted.body.status.phase, "Terminating");
  assertEquals((await api.get(`${maps}/a`)).status, 404);
  const late = await api.post(maps, configMap("late"));
  assertEquals([late.status, late.body.details.causes[0].reason], [403, "NamespaceTerminating"]);
  await api.mergePatch(`${maps}/b`, { metadata: { finalizers: null } });
  assertEquals((await api.get("/api/v1/namespaces/apps")).status, 404);
});
