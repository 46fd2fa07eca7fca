import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describeAll, describeResult, findSteps, runSteps, type Step } from "./ok.ts";

const evaluate = (name: string, code: string): Step => ({
  name,
  args: ["eval", "--no-lock", code],
});

async function run(steps: readonly Step[], jobs = 2) {
  const ended: string[] = [];
  const cwd = Deno.cwd();
  const onResult = ({ step }: { step: Step }) => void ended.push(step.name);
  return { results: await runSteps(steps, { cwd, jobs, onResult }), ended };
}

Deno.test("runSteps() runs every step, though one fails, and keeps what each printed", async () => {
  const { results } = await run([
    evaluate("bad", "console.log('out'); console.error('err'); Deno.exit(3)"),
    evaluate("good", "console.log('fine')"),
  ]);
  assertEquals(results.map(({ step, ok, output }) => [step.name, ok, output]), [
    ["bad", false, "out\nerr"],
    ["good", true, "fine"],
  ]);
  assert(results.every(({ ms }) => ms > 0));
});

Deno.test("runSteps() runs a step that wants the machine for itself after the others", async () => {
  const alone = { ...evaluate("alone", ""), alone: true };
  const { results, ended } = await run([alone, evaluate("a", ""), evaluate("b", "")], 1);
  assertEquals(ended, ["a", "b", "alone"]);
  assertEquals(results.map(({ step }) => step.name), ["alone", "a", "b"]);
});

Deno.test("findSteps() finds the generators, and leaves tests out when told", async () => {
  const root = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${root}/tools`);
    for (const name of ["generate_b.ts", "generate_a.ts", "generate_a_test.ts", "other.ts"]) {
      await Deno.writeTextFile(`${root}/tools/${name}`, "");
    }
    const names = async (tests: boolean) =>
      (await findSteps(root, { tests })).map(({ name }) => name);
    const checks = ["types", "lint", "fmt", "architecture", "generated a", "generated b"];
    assertEquals(await names(false), checks);
    assertEquals(await names(true), [...checks, "tests"]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a step is one line, with its whole output only when it failed", () => {
  const step = { name: "lint", args: [] };
  const output = "error: a\nerror: b";
  assertEquals(
    describeResult({ step, ok: true, ms: 1234, output }),
    "ok    lint                 1.2 s",
  );
  const failed = describeResult({ step, ok: false, ms: 1234, output });
  assertMatch(failed, /^FAIL {2}lint +1\.2 s\nerror: a\nerror: b$/);
});

Deno.test("a step of tests says how many passed", () => {
  const step = { name: "tests", args: [] };
  const output = "ok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)";
  assertStringIncludes(
    describeResult({ step, ok: true, ms: 2000, output }),
    "12 passed, 0 failed, 1 skipped",
  );
});

Deno.test("the last line names the failed steps and the time", () => {
  const result = (name: string, ok: boolean) => ({
    step: { name, args: [] },
    ok,
    ms: 1,
    output: "",
  });
  assertEquals(describeAll([result("a", true), result("b", true)], 2345), "ok: 2 steps in 2.3 s");
  assertEquals(
    describeAll([result("a", true), result("b", false)], 61_000),
    "FAILED: 1 of 2 steps (b) in 61.0 s",
  );
  assertEquals(
    describeAll([result("a", true)], 61_000),
    "ok: 1 steps in 61.0 s, over the budget of 60 s",
  );
});
