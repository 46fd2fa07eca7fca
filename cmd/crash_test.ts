import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { fileURLToPath } from "node:url";

const CRASH = fileURLToPath(new URL("testing/crash.ts", import.meta.url));

Deno.test("M232 an error that nobody caught ends the program, and prints no credential", async () => {
  for (const how of ["throw", "reject"]) {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-lock", "--no-check", CRASH, how],
      env: { NO_COLOR: "1" },
    }).output();
    const text = new TextDecoder().decode(stderr);
    assertEquals([code, stdout.length], [1, 0], text);
    assertStringIncludes(text, "no answer with [redacted]");
    assertStringIncludes(text, "[cause]: TypeError");
    assertStringIncludes(text, "crash.ts:");
    assertFalse(text.includes("canary"), text);
  }
});
