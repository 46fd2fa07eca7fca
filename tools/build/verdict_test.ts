import { assertEquals } from "@std/assert";
import { judgeCompile, judgeOutput, versionLine } from "./verdict.ts";

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
