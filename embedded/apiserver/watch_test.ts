import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../../core/clock_fake.ts";
import { CONFIG_MAPS, configMap, TestServer } from "./testing.ts";

async function versionOf(api: TestServer): Promise<string> {
  return (await api.get(CONFIG_MAPS)).body.metadata.resourceVersion;
}

Deno.test("a watch without a version starts with the objects that are there", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, configMap("a"));
  for (const query of ["", "?resourceVersion=", "?resourceVersion=0"]) {
    const watch = await api.watch(CONFIG_MAPS + query);
    assertEquals(await watch.take(1), ["ADDED a"]);
    await watch.cancel();
  }
});

Deno.test("a watch that takes bookmarks is told where the first objects end", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, configMap("a"));
  const watch = await api.watch(`${CONFIG_MAPS}?allowWatchBookmarks=true`);
  await watch.next();
  const bookmark = await watch.next();
  assertEquals(bookmark?.type, "BOOKMARK");
  assertEquals(bookmark?.object.kind, "ConfigMap");
  assertEquals(bookmark?.object.metadata.annotations, { "k8s.io/initial-events-end": "true" });
  assertEquals(bookmark?.object.metadata.resourceVersion, await versionOf(api));
  await watch.cancel();
});

Deno.test("a watch only tells of its namespace and kind", async () => {
  const api = new TestServer();
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=${await versionOf(api)}`);
  await api.post("/api/v1/namespaces/kube-system/configmaps", configMap("elsewhere"));
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  await api.post("/api/v1/namespaces/default/secrets", secret);
  await api.post(CONFIG_MAPS, configMap("here"));
  assertEquals(await watch.take(1), ["ADDED here"]);
  await watch.cancel();
});

Deno.test("an object that starts or stops to match is added or deleted", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, configMap("a"));
  const query = `?labelSelector=x%3D1&resourceVersion=${await versionOf(api)}`;
  const watch = await api.watch(CONFIG_MAPS + query);
  const labels = (x: string | null) =>
    api.mergePatch(`${CONFIG_MAPS}/a`, { metadata: { labels: { x } } });
  await labels("1");
  await api.mergePatch(`${CONFIG_MAPS}/a`, { data: { k: "v" } });
  const { body } = await labels(null);
  await labels("2");
  await labels("1");
  await api.delete(`${CONFIG_MAPS}/a`);
  assertEquals(await watch.take(2), ["ADDED a", "MODIFIED a"]);
  const left = await watch.next();
  assertEquals([left?.type, left?.object.metadata.labels], ["DELETED", { x: "1" }]);
  assertEquals(left?.object.metadata.resourceVersion, body.metadata.resourceVersion);
  assertEquals(await watch.take(2), ["ADDED a", "DELETED a"]);
  await watch.cancel();
});

Deno.test("a watch by field selector follows one object", async () => {
  const api = new TestServer();
  const query = `?fieldSelector=metadata.name%3Db&resourceVersion=${await versionOf(api)}`;
  const watch = await api.watch(CONFIG_MAPS + query);
  await api.post(CONFIG_MAPS, configMap("a"));
  await api.post(CONFIG_MAPS, configMap("b"));
  assertEquals(await watch.take(1), ["ADDED b"]);
  await watch.cancel();
});

Deno.test("a deleted object carries the version of its deletion", async () => {
  const api = new TestServer();
  const created = await api.post(CONFIG_MAPS, configMap("a"));
  const { resourceVersion } = created.body.metadata;
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=${resourceVersion}`);
  await api.delete(`${CONFIG_MAPS}/a`);
  const event = await watch.next();
  assert(BigInt(event?.object.metadata.resourceVersion ?? 0) > BigInt(resourceVersion));
  await watch.cancel();
});

Deno.test("a version that was compacted is answered with a 410 event, the latest is not", async () => {
  const api = new TestServer();
  const old = await versionOf(api);
  await api.post(CONFIG_MAPS, configMap("a"));
  api.server.compact();
  const expired = await api.watch(`${CONFIG_MAPS}?resourceVersion=${old}`);
  const event = await expired.next();
  assertEquals([event?.type, event?.object.code, event?.object.reason], ["ERROR", 410, "Expired"]);
  assertEquals(await expired.next(), undefined);
  const fresh = await api.watch(`${CONFIG_MAPS}?resourceVersion=${await versionOf(api)}`);
  await api.post(CONFIG_MAPS, configMap("b"));
  assertEquals(await fresh.take(1), ["ADDED b"]);
  await fresh.cancel();
});

Deno.test("history is forgotten beyond its limit", async () => {
  const api = new TestServer({ historyLimit: 2 });
  const old = await versionOf(api);
  for (const name of ["a", "b", "c", "d", "e"]) await api.post(CONFIG_MAPS, configMap(name));
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=${old}`);
  assertEquals((await watch.next())?.object.code, 410);
});

Deno.test("a watch ends after its timeout, with a bookmark where asked for", async () => {
  const clock = new FakeClock();
  const api = new TestServer({ clock });
  const query = `?resourceVersion=${await versionOf(
    api,
  )}&timeoutSeconds=5&allowWatchBookmarks=true`;
  const watch = await api.watch(CONFIG_MAPS + query);
  clock.advance(5000);
  assertEquals(await watch.take(2), ["BOOKMARK", "END"]);
  assertEquals([api.server.openWatches, clock.pending], [0, 0]);
});

Deno.test("a quiet watch gets a bookmark every minute, with the version of other kinds' changes", async () => {
  const clock = new FakeClock();
  const api = new TestServer({ clock });
  const query = `?resourceVersion=${await versionOf(api)}&allowWatchBookmarks=true`;
  const watch = await api.watch(CONFIG_MAPS + query);
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
  const { body } = await api.post("/api/v1/namespaces/default/secrets", secret);
  clock.advance(120_000);
  for (let i = 0; i < 2; i++) {
    const event = await watch.next();
    assertEquals(event?.type, "BOOKMARK");
    assertEquals(event?.object.metadata.resourceVersion, body.metadata.resourceVersion);
  }
  await watch.cancel();
  assertEquals(clock.pending, 0);
});

Deno.test("closeWatches ends every watch, and they can be resumed", async () => {
  const api = new TestServer();
  const version = await versionOf(api);
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=${version}`);
  assertEquals(api.server.openWatches, 1);
  api.server.closeWatches();
  assertEquals(await watch.next(), undefined);
  assertEquals(api.server.openWatches, 0);
});

Deno.test("a watch whose request is aborted ends with the signal's reason", async () => {
  const api = new TestServer();
  const abort = new AbortController();
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=1`, abort.signal);
  const reason = new DOMException("enough", "AbortError");
  abort.abort(reason);
  await assertRejects(() => watch.next(), DOMException, "enough");
  assertEquals(api.server.openWatches, 0);
});

Deno.test("an object that only waited for its finalizer goes without another change", async () => {
  const api = new TestServer();
  await api.post(CONFIG_MAPS, configMap("a", { metadata: { finalizers: ["x.io/f"] } }));
  const watch = await api.watch(`${CONFIG_MAPS}?resourceVersion=${await versionOf(api)}`);
  await api.delete(`${CONFIG_MAPS}/a`);
  await api.mergePatch(`${CONFIG_MAPS}/a`, { metadata: { finalizers: null } });
  assertEquals(await watch.take(2), ["MODIFIED a", "DELETED a"]);
  await watch.cancel();
});
