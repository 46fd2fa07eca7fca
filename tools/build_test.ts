import { assert, assertEquals } from "@std/assert";
import { adviceOf, judgeCompile, judgeOutput, PERMISSIONS, versionLine } from "./build.ts";

const ok = (stdout: string) => ({ ok: true, stdout, stderr: "" });
const failed = (stderr: string) => ({ ok: false, stdout: "", stderr });

Deno.test("a compile without Deno's runtime is told from one that fails", () => {
  assertEquals(judgeCompile(ok("")), { kind: "made" });
  const why = "error sending request for url (https://dl.deno.land/release/v2.9.3/denort-x.zip)";
  assertEquals(
    judgeCompile(failed(`Download https://…\n\x1b[31merror\x1b[0m: \n    1: ${why}\n`)),
    { kind: "noRuntime", why },
  );
  assertEquals(judgeCompile(failed("error: Module not found\n")), {
    kind: "failed",
    why: "error: Module not found",
  });
});

Deno.test("an executable that answers as Deno itself does is not ours", () => {
  assertEquals(judgeOutput(ok(`${versionLine("0.1.0")}\n`), "0.1.0"), { kind: "made" });
  for (
    const said of [ok("deno 2.9.3 (stable)\n"), ok(`${versionLine("0.0.9")}\n`), {
      ...ok(versionLine("0.1.0")),
      ok: false,
    }, failed('\x1b[31merror\x1b[0m: Module not found "file:///version"')]
  ) {
    const verdict = judgeOutput(said, "0.1.0");
    assertEquals(verdict.kind, "noRuntime");
  }
});

Deno.test("the advice is one line that names what to do and what happened", () => {
  const advice = adviceOf("dns error");
  assertEquals(advice.includes("\n"), false);
  for (const part of ["DENORT_BIN", "dl.deno.land", "dns error"]) assert(advice.includes(part));
});

Deno.test("the program may use the network, files and the environment to read, and nothing else", () => {
  assertEquals(PERMISSIONS, ["--no-prompt", "--allow-net", "--allow-read", "--allow-env"]);
});
