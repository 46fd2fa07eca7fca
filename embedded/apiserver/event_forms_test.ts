import { assertEquals } from "@std/assert";
import { TestServer } from "./testing.ts";

const NEWER = "/apis/events.k8s.io/v1/namespaces/default/events";
const OLDER = "/api/v1/namespaces/default/events";

const EVENT = {
  metadata: { name: "web.1" },
  eventTime: "2026-01-01T00:00:00.000000Z",
  reportingController: "example.com/operator",
  reportingInstance: "operator-0",
  action: "Reconcile",
  reason: "Ready",
  type: "Normal",
  note: "all is well",
  regarding: { kind: "ConfigMap", name: "web", namespace: "default", uid: "u-1" },
};

Deno.test("an Event of events.k8s.io is read as a core Event, which kubectl describe looks for", async () => {
  const server = new TestServer();
  await server.post(NEWER, EVENT);
  const selector = encodeURIComponent("involvedObject.name=web,involvedObject.kind=ConfigMap");
  const { body } = await server.get(`${OLDER}?fieldSelector=${selector}`);
  const [event] = body.items;
  assertEquals(event.message, "all is well");
  assertEquals(event.involvedObject, EVENT.regarding);
  assertEquals(event.source, { component: "example.com/operator" });
  assertEquals([event.count, event.lastTimestamp], [1, "2026-01-01T00:00:00Z"]);
  assertEquals([event.note, event.regarding], [undefined, undefined]);
});

Deno.test("a core Event is read, patched and deleted as one of events.k8s.io", async () => {
  const server = new TestServer();
  await server.post(OLDER, {
    metadata: { name: "web.2" },
    involvedObject: EVENT.regarding,
    message: "it began",
    reason: "Started",
    count: 2,
  });
  const { body: read } = await server.get(`${NEWER}/web.2`);
  assertEquals([read.apiVersion, read.note, read.deprecatedCount], [
    "events.k8s.io/v1",
    "it began",
    2,
  ]);
  const series = { count: 3, lastObservedTime: "2026-01-01T00:00:05.000000Z" };
  const { status } = await server.mergePatch(`${NEWER}/web.2`, { note: "it went on", series });
  assertEquals(status, 200);
  assertEquals((await server.get(`${OLDER}/web.2`)).body.message, "it went on");
  assertEquals((await server.delete(`${NEWER}/web.2`)).status, 200);
  assertEquals((await server.get(`${OLDER}/web.2`)).status, 404);
});
