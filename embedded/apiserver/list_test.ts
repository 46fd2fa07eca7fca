import { assert, assertEquals } from "@std/assert";
import { CONFIG_MAPS, configMap, TestServer } from "./testing.ts";

async function serverWith(...names: string[]): Promise<TestServer> {
  const api = new TestServer();
  for (const name of names) {
    await api.post(CONFIG_MAPS, configMap(name, { metadata: { labels: { name } } }));
  }
  return api;
}

function namesOf(body: { items: { metadata: { name: string } }[] }): string[] {
  return body.items.map((item) => item.metadata.name);
}

Deno.test("a list is ordered by namespace and name, and spans namespaces where asked", async () => {
  const api = await serverWith("b", "a", "a-b");
  await api.post("/api/v1/namespaces/kube-system/configmaps", configMap("0"));
  assertEquals(namesOf((await api.get(CONFIG_MAPS)).body), ["a", "a-b", "b"]);
  assertEquals(namesOf((await api.get("/api/v1/configmaps")).body), ["a", "a-b", "b", "0"]);
});

Deno.test("items of built-in kinds have no apiVersion and kind, those of others do", async () => {
  const api = await serverWith("a");
  assertEquals((await api.get(CONFIG_MAPS)).body.items[0].kind, undefined);
  const path = "/apis/gateway.tailscale.com/v1alpha1/tailscaletailnets";
  const apiVersion = "gateway.tailscale.com/v1alpha1";
  await api.post(path, { apiVersion, kind: "TailscaleTailnet", metadata: { name: "t" } });
  const { body } = await api.get(path);
  assertEquals([body.kind, body.items[0].kind], ["TailscaleTailnetList", "TailscaleTailnet"]);
});

Deno.test("pages show one moment, whatever happens between them", async () => {
  const api = await serverWith("a", "b", "c", "d");
  const first = await api.get(`${CONFIG_MAPS}?limit=2`);
  assertEquals(namesOf(first.body), ["a", "b"]);
  assertEquals(first.body.metadata.remainingItemCount, 2);
  await api.delete(`${CONFIG_MAPS}/c`);
  await api.post(CONFIG_MAPS, configMap("bb"));
  const second = await api.get(`${CONFIG_MAPS}?limit=2&continue=${first.body.metadata.continue}`);
  assertEquals(namesOf(second.body), ["c", "d"]);
  assertEquals(second.body.metadata.continue, undefined);
  assertEquals(second.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
});

Deno.test("a page after a compaction is answered with 410", async () => {
  const api = await serverWith("a", "b");
  const first = await api.get(`${CONFIG_MAPS}?limit=1`);
  await api.post(CONFIG_MAPS, configMap("c"));
  api.server.compact();
  const { status, body } = await api.get(
    `${CONFIG_MAPS}?limit=1&continue=${first.body.metadata.continue}`,
  );
  assertEquals([status, body.reason, body.code], [410, "Expired", 410]);
});

Deno.test("selectors choose, and pages of them do not count what remains", async () => {
  const api = await serverWith("a", "b", "c");
  const selector = encodeURIComponent("name in (b,c)");
  const { body } = await api.get(`${CONFIG_MAPS}?labelSelector=${selector}&limit=1`);
  assertEquals(namesOf(body), ["b"]);
  assert(body.metadata.continue);
  assertEquals(body.metadata.remainingItemCount, undefined);
  const byName = await api.get(`${CONFIG_MAPS}?fieldSelector=metadata.name%3Dc`);
  assertEquals(namesOf(byName.body), ["c"]);
});

Deno.test("a version that has not happened yet is a timeout to be tried again", async () => {
  const api = await serverWith();
  const { status, body } = await api.get(`${CONFIG_MAPS}?resourceVersion=999`);
  assertEquals([status, body.reason, body.details.retryAfterSeconds], [504, "Timeout", 1]);
});

Deno.test("a list as of an exact version shows that version", async () => {
  const api = await serverWith("a");
  const { body } = await api.get(CONFIG_MAPS);
  await api.post(CONFIG_MAPS, configMap("b"));
  await api.delete(`${CONFIG_MAPS}/a`);
  const query = `?resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`;
  assertEquals(namesOf((await api.get(CONFIG_MAPS + query)).body), ["a"]);
});
