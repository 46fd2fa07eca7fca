import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runProgram } from "./testing/program.ts";
import { VERSION } from "./version.ts";

Deno.test("the program prints its own version", async () => {
  for (const args of [["version"], ["--version"]]) {
    const { code, stdout } = await runProgram(args);
    assertEquals([code, stdout], [0, `tailscale-gateway ${VERSION}\n`]);
  }
});

Deno.test("the program lists its commands when asked, and when called with none", async () => {
  const asked = await runProgram(["--help"]);
  assertEquals(asked.code, 0);
  for (const name of ["run", "standalone", "version"]) assertStringIncludes(asked.stdout, name);
  assertEquals((await runProgram([])).code, 2);
});

Deno.test("a command that is not known is a misuse", async () => {
  const { code, stderr } = await runProgram(["rnu"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "no such command: rnu");
});

Deno.test("run without a cluster says in one line where it looked and what to do", async () => {
  const { code, stderr } = await runProgram(["run"], { env: { KUBECONFIG: "/dev/null/config" } });
  assertEquals(code, 1);
  assertMatch(stderr, /^tailscale-gateway: .*\/dev\/null\/config.*\n$/);
});

Deno.test("run refuses options that are no use in one line", async () => {
  const { code, stderr } = await runProgram(["run", "--log-level=loud"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "--log-level is loud; give one of debug, info, warn, error");
});
