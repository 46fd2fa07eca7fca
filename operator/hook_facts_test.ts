import { assertEquals } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { BehindError, type HookCall } from "../extension/server.ts";
import { HookRecorder } from "./hook_facts.ts";

const RENDERED = new Map([["apps/edge", "h1"], ["apps/other", "h2"]]);

function setUp({ shared = false } = {}) {
  const clock = new FakeClock(1_000);
  let changes = 0;
  const recorder = new HookRecorder({ clock, onChange: () => changes++, shared });
  const call = (options: { revisions?: [string, string][]; error?: Error } = {}): HookCall => ({
    hook: "PostTranslateModify",
    durationMs: 1,
    snapshot: "v",
    counts: {},
    revisions: (options.revisions ?? []).map(([gateway, revision]) => ({ gateway, revision })),
    ...(options.error ? { error: options.error } : {}),
  });
  return { clock, recorder, call, changes: () => changes };
}

const error = new Error("no");

Deno.test("HookRecorder tells of the first call, and of no other that went well", () => {
  const { recorder, call, changes } = setUp();
  assertEquals(recorder.facts.lastCallAt, undefined);
  recorder.record(call(), RENDERED);
  recorder.record(call({ revisions: [["apps/edge", "h1.0"]] }), RENDERED);
  assertEquals(changes(), 1);
  assertEquals(recorder.facts.lastCallAt, 1_000);
  assertEquals([...recorder.facts.servedHash], [["apps/edge", "h1"]]);
});

Deno.test("HookRecorder remembers a failure until a call for the Gateway goes well", () => {
  const { recorder, call, changes } = setUp();
  recorder.record(call({ revisions: [["apps/edge", "h1.0"]], error }), RENDERED);
  assertEquals([...recorder.facts.failedAt], [["apps/edge", 1_000]]);
  recorder.record(call({ revisions: [["apps/edge", "h1.0"]] }), RENDERED);
  assertEquals(recorder.facts.failedAt.size, 0);
  assertEquals(changes(), 2);
});

Deno.test("HookRecorder lays a call that could not be read at the door of every Gateway", () => {
  const { recorder, call } = setUp();
  recorder.record(call({ error }), RENDERED);
  assertEquals([...recorder.facts.failedAt.keys()], ["apps/edge", "apps/other"]);
});

Deno.test("HookRecorder forgets a failure once it was asked for again, unless that failed too", () => {
  const { recorder, call } = setUp();
  recorder.record(call({ revisions: [["apps/edge", "h1.0"]], error }), RENDERED);
  recorder.asked("apps/edge", "h1.0");
  assertEquals(recorder.facts.failedAt.size, 1, "the same revision asks for nothing new");
  recorder.asked("apps/edge", "h1.1");
  assertEquals(recorder.facts.failedAt.size, 0);
  recorder.record(call({ revisions: [["apps/edge", "h1.2"]], error }), RENDERED);
  recorder.asked("apps/edge", "h1.2");
  assertEquals(recorder.facts.failedAt.size, 1, "its call was faster than the answer to its write");
});

Deno.test("HookRecorder remembers nothing of Gateways that are not ours, or have gone", () => {
  const { recorder, call } = setUp();
  recorder.record(call({ revisions: [["evil/one", "x.0"]], error }), RENDERED);
  assertEquals(recorder.facts.failedAt.size, 0);
  recorder.record(call({ revisions: [["apps/edge", "h1.0"]] }), RENDERED);
  recorder.forget("apps/edge");
  assertEquals(recorder.facts.servedHash.size, 0);
});

Deno.test("HookRecorder of one replica among others has a new revision asked for once more where it was not called", () => {
  const { recorder, call } = setUp({ shared: true });
  const served = () => recorder.facts.servedHash.get("apps/edge");
  recorder.asked("apps/edge", "h0.0");
  assertEquals(served(), undefined, "what was there at the start was served by others");
  recorder.asked("apps/edge", "h1.0");
  assertEquals(served(), "", "who was called for it, and whether it went well, is not known");
  recorder.asked("apps/edge", "h1.1");
  assertEquals(served(), undefined, "once is enough");
  recorder.record(call({ revisions: [["apps/edge", "h2.0"]] }), RENDERED);
  recorder.asked("apps/edge", "h2.0");
  assertEquals(served(), RENDERED.get("apps/edge"), "it was called itself");
});

Deno.test("HookRecorder does not take a call that Envoy Gateway repeats by itself for a failure", () => {
  const { recorder, call } = setUp({ shared: true });
  const behind = new BehindError("not here yet");
  recorder.record(call({ revisions: [["apps/edge", "h1.0"]], error: behind }), RENDERED);
  assertEquals(recorder.facts.failedAt.size, 0);
});

Deno.test("HookRecorder of a replica that begins to lead leaves to the leader before it what that one had time for", () => {
  const { recorder, clock } = setUp({ shared: true });
  const served = () => recorder.facts.servedHash.get("apps/edge");
  recorder.asked("apps/edge", "h0.0");
  recorder.asked("apps/edge", "h1.0");
  clock.advance(20_000);
  recorder.beganToLead();
  assertEquals(served(), "", "its writer may have died of it");
  clock.advance(10_000);
  recorder.asked("apps/edge", "h1.0");
  recorder.beganToLead();
  assertEquals(served(), undefined);
});
