import { assertEquals, assertRejects } from "@std/assert";
import { waitFor, WaitTimeoutError } from "./wait.ts";

Deno.test("waitFor() returns the first value that is one", async () => {
  const values = [undefined, null, false, 0];
  assertEquals(await waitFor("a value", () => values.shift(), { everyMs: 0 }), 0);
});

Deno.test("waitFor() takes a failing probe for not yet, and tells of it at the end", async () => {
  const probe = () => Promise.reject(new Error("connection refused"));
  const error = await assertRejects(
    () => waitFor("the server", probe, { timeoutMs: 0, everyMs: 0 }),
    WaitTimeoutError,
    "the server: not so after 0 ms: connection refused",
  );
  assertEquals((error.cause as Error).message, "connection refused");
});

Deno.test("waitFor() gives up at once when the guard throws", async () => {
  const guard = () => {
    throw new TypeError("it died");
  };
  await assertRejects(() => waitFor("it", () => false, { guard }), TypeError, "it died");
});
