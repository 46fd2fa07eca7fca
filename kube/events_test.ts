import { assert, assertEquals, assertMatch } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { KubeClient } from "./client.ts";
import { EventRecorder } from "./events.ts";
import { silentLog } from "./log.ts";
import { failure } from "./testing/scripted.ts";
import { handlerTransport } from "./transport.ts";

/** A recorder, and the bodies that it sent. */
function rig(answer: (request: Request) => Response = () => Response.json({})) {
  const clock = new FakeClock(Date.parse("2026-11-27T10:00:00.5Z"));
  // deno-lint-ignore no-explicit-any
  const sent: { method: string; path: string; body: any }[] = [];
  const warnings: string[] = [];
  const client = new KubeClient(handlerTransport(async (request) => {
    const path = new URL(request.url).pathname;
    sent.push({ method: request.method, path, body: await request.json() });
    return answer(request);
  }));
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
  const recorder = new EventRecorder({ client, clock, component: "c", instance: "pod-0", log });
  return { clock, recorder, sent, warnings };
}

const subject = (name = "web") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "apps", uid: `uid-${name}` },
});
const event = { type: "Normal" as const, reason: "Created", note: "made it" };

Deno.test("M229 record() writes an Event of events.k8s.io", async () => {
  const { recorder, sent } = rig();
  recorder.record(subject(), event);
  await recorder.flush();
  const { metadata, ...body } = sent[0]!.body;
  assertEquals(sent[0]!.path, "/apis/events.k8s.io/v1/namespaces/apps/events");
  assertMatch(metadata.name, /^web\.[0-9a-f]+$/);
  assertEquals(body, {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    eventTime: "2026-11-27T10:00:00.500000Z",
    reportingController: "c",
    reportingInstance: "pod-0",
    action: "Reconcile",
    reason: "Created",
    type: "Normal",
    note: "made it",
    regarding: { apiVersion: "v1", kind: "Pod", name: "web", namespace: "apps", uid: "uid-web" },
  });
});

Deno.test("record() counts the same Event instead of repeating it, and writes the count once a minute", async () => {
  const { recorder, sent, clock } = rig();
  for (let i = 0; i < 5; i++) recorder.record(subject(), event);
  clock.advance(60_000);
  recorder.record(subject(), event);
  recorder.record(subject(), event);
  await recorder.flush();
  assertEquals(sent.map((s) => [s.method, s.body.series?.count]), [
    ["POST", undefined],
    ["PATCH", 6],
    ["PATCH", 7],
  ]);
  assertEquals(sent[1]!.body.series.lastObservedTime, "2026-11-27T10:01:00.500000Z");
  assertEquals(sent[1]!.path, `${sent[0]!.path}/${sent[0]!.body.metadata.name}`);
});

Deno.test("record() makes a new Event after six minutes without it", async () => {
  const { recorder, sent, clock } = rig();
  recorder.record(subject(), event);
  clock.advance(360_000);
  recorder.record(subject(), event);
  await recorder.flush();
  assertEquals(sent.map((s) => s.method), ["POST", "POST"]);
  assert(sent[0]!.body.metadata.name !== sent[1]!.body.metadata.name);
});

Deno.test("record() holds one chatty object back, and no other", async () => {
  const { recorder, sent, clock } = rig();
  for (let i = 0; i < 40; i++) recorder.record(subject(), { ...event, note: `n${i}` });
  recorder.record(subject("other"), event);
  await recorder.flush();
  assertEquals(sent.length, 26);
  assertEquals(recorder.dropped, 15);
  clock.advance(300_000);
  recorder.record(subject(), { ...event, note: "later" });
  recorder.record(subject(), { ...event, note: "too soon" });
  await recorder.flush();
  assertEquals(sent.length, 27);
});

Deno.test("a failure to write is logged, and the next Event is written", async () => {
  let n = 0;
  const { recorder, sent, warnings } = rig(() =>
    n++ === 0 ? failure(403, "Forbidden") : Response.json({})
  );
  recorder.record(subject(), event);
  recorder.record(subject("other"), event);
  await recorder.flush();
  assertEquals(warnings, ["an Event could not be written"]);
  assertEquals([sent.length, recorder.dropped], [2, 1]);
});

Deno.test("a series whose Event has expired starts anew", async () => {
  const { recorder, sent, clock } = rig((request) =>
    request.method === "PATCH" ? failure(404, "NotFound") : Response.json({})
  );
  recorder.record(subject(), event);
  clock.advance(60_000);
  recorder.record(subject(), event);
  await recorder.flush();
  recorder.record(subject(), event);
  await recorder.flush();
  assertEquals(sent.map((s) => s.method), ["POST", "PATCH", "POST"]);
});

Deno.test("long notes and names are cut to what the API server takes", async () => {
  const { recorder, sent } = rig();
  recorder.record(subject("n".repeat(253)), { ...event, note: "ä".repeat(2_000) });
  recorder.record({ apiVersion: "v1", kind: "Node", metadata: { name: "node" } }, event);
  await recorder.flush();
  const { note, metadata } = sent[0]!.body;
  assert(new TextEncoder().encode(note).length <= 1024);
  assertMatch(note, /^ä+…$/);
  assertEquals(metadata.name.length, 253);
  assertEquals(sent[1]!.body.metadata.namespace, "default");
});
