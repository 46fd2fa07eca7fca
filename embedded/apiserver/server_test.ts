import { assert, assertEquals } from "@std/assert";
import { CONFIG_MAPS, configMap, TestServer } from "./testing.ts";

Deno.test("an object can be created, read, listed, replaced and deleted", async () => {
  const api = new TestServer();
  const created = await api.post(CONFIG_MAPS, configMap("a", { data: { x: "1" } }));
  assertEquals(created.status, 201);
  assert(created.body.metadata.uid);
  assertEquals(created.body.metadata.namespace, "default");

  const read = await api.get(`${CONFIG_MAPS}/a`);
  assertEquals(read.body, created.body);

  const replaced = await api.put(`${CONFIG_MAPS}/a`, { ...read.body, data: { x: "2" } });
  assertEquals(replaced.body.data, { x: "2" });
  assert(
    BigInt(replaced.body.metadata.resourceVersion) > BigInt(read.body.metadata.resourceVersion),
  );

  const list = await api.get(CONFIG_MAPS);
  assertEquals(list.body.kind, "ConfigMapList");
  assertEquals(list.body.items[0].metadata.name, "a");
  assertEquals(list.body.metadata.resourceVersion, replaced.body.metadata.resourceVersion);

  assertEquals((await api.delete(`${CONFIG_MAPS}/a`)).body.status, "Success");
  const gone = await api.get(`${CONFIG_MAPS}/a`);
  assertEquals(gone.status, 404);
  assertEquals(gone.body.reason, "NotFound");
  assertEquals(gone.body.message, 'configmaps "a" not found');
});

Deno.test("a watch from a list's version tells what came after", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, configMap("a"));
  const { body } = await api.get(CONFIG_MAPS);
  await api.post(CONFIG_MAPS, configMap("b"));
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=${body.metadata.resourceVersion}`);
  await api.mergePatch(`${CONFIG_MAPS}/b`, { data: { x: "1" } });
  await api.delete(`${CONFIG_MAPS}/b`);
  assertEquals(await watch.take(3), ["ADDED b", "MODIFIED b", "DELETED b"]);
  await watch.cancel();
});

Deno.test("server-side apply creates, changes nothing the second time, and refuses a conflict", async () => {
  const api = new TestServer();
  const path = `${CONFIG_MAPS}/a`;
  const first = await api.apply(path, "one", configMap("a", { data: { x: "1" } }));
  assertEquals(first.status, 201);
  const again = await api.apply(path, "one", configMap("a", { data: { x: "1" } }));
  assertEquals(again.status, 200);
  assertEquals(again.body, first.body);
  const other = await api.apply(path, "two", configMap("a", { data: { x: "2" } }));
  assertEquals(other.status, 409);
  assertEquals(other.body.message, 'Apply failed with 1 conflict: conflict with "one": .data.x');
  const forced = await api.apply(`${path}?force=true`, "two", configMap("a", { data: { x: "2" } }));
  assertEquals(forced.body.data, { x: "2" });
});
