import { assertEquals, assertRejects } from "@std/assert";
import { CommandError, run, tryRun } from "./command.ts";

Deno.test("run() returns what the command wrote", async () => {
  assertEquals(await run(["cat"], { stdin: "hello" }), "hello");
  assertEquals(await run(["sh", "-c", 'printf %s "$X"'], { env: { X: "1" } }), "1");
});

Deno.test("run() tells the command, its code and its last words", async () => {
  await assertRejects(
    () => run(["sh", "-c", "echo no >&2; exit 3"]),
    CommandError,
    "sh -c echo no >&2; exit 3 ended with 3: no",
  );
});

Deno.test("tryRun() takes any end", async () => {
  assertEquals((await tryRun(["false"])).code, 1);
});
