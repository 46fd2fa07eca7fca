import { assertEquals } from "@std/assert";
import { describeTotals, parseTotals, totalsOf } from "./test_totals.ts";

Deno.test("parseTotals() reads every form of deno test's summary", () => {
  const table: [string, number, number, number][] = [
    ["ok | 2 passed | 0 failed (3ms)", 2, 0, 0],
    ["FAILED | 10 passed | 2 failed (88ms)", 10, 2, 0],
    ["ok | 2 passed (3 steps) | 0 failed | 1 ignored (3ms)", 2, 0, 1],
    [
      "FAILED | 1 passed (1 step) | 1 failed (2 steps) | 2 ignored (1 step) | 3 filtered out",
      1,
      1,
      2,
    ],
    ["ok | 0 passed | 0 failed | 1 measured | 4 filtered out (0ms)", 0, 0, 0],
    [
      "\u001b[0m\u001b[32mok\u001b[0m | 5 passed | 0 failed \u001b[38;5;245m(1s)\u001b[0m\r",
      5,
      0,
      0,
    ],
    ["a\nok | 1 passed | 0 failed (1s)\nb\nFAILED | 2 passed | 3 failed (1s)\n", 3, 3, 0],
    ["the text 'ok | 9 passed | 9 failed' within a line", 0, 0, 0],
    ["error: Type checking failed.", 0, 0, 0],
    ["", 0, 0, 0],
  ];
  for (const [output, passed, failed, skipped] of table) {
    assertEquals(parseTotals(output), { passed, failed, skipped }, output);
  }
});

Deno.test("a run that failed without a failed test counts as one failure", () => {
  const runs = [
    { code: 0, output: "ok | 2 passed | 0 failed (1s)" },
    { code: 1, output: "error: Type checking failed." },
    { code: 1, output: "FAILED | 3 passed | 2 failed (1s)" },
    { code: 134, output: "ok | 1 passed | 0 failed (1s)\nabort" },
  ];
  assertEquals(totalsOf(runs), { passed: 6, failed: 4, skipped: 0 });
});

Deno.test("describeTotals() names skipped tests only where there are some", () => {
  assertEquals(describeTotals({ passed: 1, failed: 2, skipped: 0 }), "1 passed, 2 failed");
  assertEquals(
    describeTotals({ passed: 1, failed: 0, skipped: 3 }),
    "1 passed, 0 failed, 3 skipped",
  );
});

Deno.test("the command prints the line, and fails when anything failed", async () => {
  const log = await Deno.makeTempFile();
  await Deno.writeTextFile(log, "FAILED | 1 passed | 1 failed (1s)\n");
  const run = async (...args: string[]) => {
    const script = new URL("test_totals.ts", import.meta.url).pathname;
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-lock", "--allow-read", script, ...args],
      stdout: "piped",
      stderr: "null",
    }).output();
    return [output.code, new TextDecoder().decode(output.stdout)];
  };
  try {
    assertEquals(await run(`1=${log}`), [1, "1 passed, 1 failed\n"]);
    assertEquals(await run(), [0, "0 passed, 0 failed\n"]);
    assertEquals(await run(log), [1, ""]);
  } finally {
    await Deno.remove(log);
  }
});
