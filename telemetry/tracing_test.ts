import { assertEquals, assertRejects } from "@std/assert";
import { recordSpan, traced } from "./tracing.ts";

// What spans tell is tested in cmd/run_telemetry_test.ts: Deno decides at its start.
Deno.test("M227 without OTEL_DENO traced() is the work alone, with its value and its error", async () => {
  assertEquals(
    await traced("a", { key: "k" }, (span) => {
      span.set({ result: "success" });
      span.fail(new Error("no"));
      return Promise.resolve(1);
    }),
    1,
  );
  const fault = new Error("fault");
  assertEquals(await assertRejects(() => traced("a", {}, () => Promise.reject(fault))), fault);
  recordSpan({ name: "b", durationMs: 3, error: "x" });
});
