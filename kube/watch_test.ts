import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { KubeApiError, KubeConnectionError } from "./errors.ts";
import { configMap, statusObject } from "./testing/scripted.ts";
import { readWatch } from "./watch.ts";

/** Reads a watch whose body comes in these chunks. */
async function read(chunks: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  const body = ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());
  for await (const event of readWatch(body, options())) {
    seen.push(`${event.type} ${event.object.metadata.name}`);
  }
  return seen;
}

function options(signal = new AbortController().signal) {
  return { what: "WATCH /x", clock: new FakeClock(), idleTimeoutMs: 1000, signal };
}

const line = (type: string, object: unknown) => JSON.stringify({ type, object }) + "\n";

Deno.test("readWatch() takes several events in a chunk, and one event over several chunks", async () => {
  const b = line("MODIFIED", configMap("b", "2"));
  const chunks = [
    line("ADDED", configMap("a", "1")) + b.slice(0, 20),
    b.slice(20, 40),
    b.slice(40),
  ];
  assertEquals(await read(chunks), ["ADDED a", "MODIFIED b"]);
});

Deno.test("readWatch() takes a whole last event without a newline", async () => {
  assertEquals(await read([line("ADDED", configMap("a", "1")).trimEnd()]), ["ADDED a"]);
});

Deno.test("readWatch() throws a connection error for a last line that is cut off", async () => {
  const cut = line("ADDED", configMap("b", "2")).slice(0, 30);
  const seen: string[] = [];
  const body = ReadableStream.from([line("ADDED", configMap("a", "1")), cut]);
  const error = await assertRejects(async () => {
    for await (const e of readWatch(body.pipeThrough(new TextEncoderStream()), options())) {
      seen.push(e.object.metadata.name);
    }
  }, KubeConnectionError);
  assertEquals(seen, ["a"]);
  assertStringIncludes(error.message, "within an event");
});

Deno.test("readWatch() throws the error of an ERROR event, with its status", async () => {
  const error = await assertRejects(
    () => read([line("ERROR", statusObject(410, "Expired", { message: "too old" }))]),
    KubeApiError,
  );
  assertEquals([error.status, error.reason], [410, "Expired"]);
});

Deno.test("readWatch() throws for an ERROR event that carries no Status", async () => {
  const error = await assertRejects(() => read([line("ERROR", null)]), KubeApiError);
  assertEquals(error.status, 500);
});

for (
  const bad of ["<html>", "null", "[]", '{"type":"ADDED"}', '{"type":"X","object":{"metadata":{}}}']
) {
  Deno.test(`readWatch() throws a connection error for ${bad}`, async () => {
    await assertRejects(() => read([bad + "\n"]), KubeConnectionError);
  });
}

Deno.test("readWatch() ends a stream that never settles when the signal aborts", async () => {
  const abort = new AbortController();
  const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  const next = readWatch(body, options(abort.signal)).next();
  abort.abort(new Error("enough"));
  await assertRejects(() => next, Error, "enough");
});
