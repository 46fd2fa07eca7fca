/**
 * The one loop: everything that must hold before a commit, in under a minute.
 *
 * ```sh
 * bin/deno task ok             # all
 * bin/deno task ok --no-tests  # all but the tests
 * ```
 *
 * @module
 */
import { describeTotals, parseTotals } from "./test_totals.ts";

/** A command that must succeed. */
export interface Step {
  readonly name: string;
  /** Arguments of the running Deno. */
  readonly args: readonly string[];
  /** Uses every core by itself, so it runs alone, after the others. */
  readonly alone?: boolean;
}

/** How a step went. */
export interface StepResult {
  readonly step: Step;
  readonly ok: boolean;
  readonly ms: number;
  /** All that it printed. */
  readonly output: string;
}

/** Options of {@linkcode runSteps}. */
export interface RunOptions {
  /** Folder to run in. */
  readonly cwd: string;
  /** How many steps run at a time. */
  readonly jobs: number;
  /** Hears of each step as it ends. */
  readonly onResult: (result: StepResult) => void;
}

const BUDGET_MS = 60_000;

/** The steps for a tree, slowest first. */
export async function findSteps(root: string, options: { tests: boolean }): Promise<Step[]> {
  const steps: Step[] = [
    { name: "types", args: ["check", "--quiet", "."] },
    { name: "lint", args: ["lint"] },
    { name: "fmt", args: ["fmt", "--check"] },
    { name: "architecture", args: ["run", "-A", "tools/check_architecture.ts"] },
    ...(await findGenerators(root)).map((file) => ({
      name: file.replace(/^generate_(.*)\.ts$/, "generated $1"),
      args: ["run", "-A", `tools/${file}`, "--check"],
    })),
  ];
  if (options.tests) {
    steps.push({ name: "tests", args: ["task", "test"], alone: true });
  }
  return steps;
}

async function findGenerators(root: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(`${root}/tools`));
  return entries
    .map((entry) => entry.name)
    .filter((name) => /^generate_.*\.ts$/.test(name) && !name.endsWith("_test.ts"))
    .sort();
}

/** Runs all steps, failures or not, and gives their results in the order of the steps. */
export async function runSteps(
  steps: readonly Step[],
  options: RunOptions,
): Promise<StepResult[]> {
  const results = new Map<Step, StepResult>();
  const run = async (step: Step) => {
    const result = await runStep(step, options.cwd);
    results.set(step, result);
    options.onResult(result);
  };
  const waiting = steps.filter((step) => !step.alone);
  const worker = async () => {
    for (let step = waiting.shift(); step; step = waiting.shift()) await run(step);
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
  for (const step of steps) if (step.alone) await run(step);
  return steps.flatMap((step) => results.get(step) ?? []);
}

async function runStep(step: Step, cwd: string): Promise<StepResult> {
  const start = performance.now();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...step.args],
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const decoder = new TextDecoder();
  const output = [stdout, stderr].map((bytes) => decoder.decode(bytes).trimEnd());
  return {
    step,
    ok: success,
    ms: performance.now() - start,
    output: output.filter((text) => text !== "").join("\n"),
  };
}

/** One line for a step, with its whole output where it failed. */
export function describeResult({ step, ok, ms, output }: StepResult): string {
  const tests = parseTotals(output);
  const counted = tests.passed + tests.failed > 0 ? `  ${describeTotals(tests)}` : "";
  const line = `${ok ? "ok  " : "FAIL"}  ${step.name.padEnd(18)} ${seconds(ms)}${counted}`;
  return ok || output === "" ? line : `${line}\n${output}`;
}

/** The last line. */
export function describeAll(results: readonly StepResult[], ms: number): string {
  const failed = results.filter((result) => !result.ok).map((result) => result.step.name);
  const verdict = failed.length === 0
    ? `ok: ${results.length} steps`
    : `FAILED: ${failed.length} of ${results.length} steps (${failed.join(", ")})`;
  const late = failed.length === 0 && ms > BUDGET_MS
    ? `, over the budget of ${BUDGET_MS / 1000} s`
    : "";
  return `${verdict} in ${seconds(ms).trimStart()}${late}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1).padStart(5)} s`;
}

if (import.meta.main) {
  const unknown = Deno.args.filter((argument) => argument !== "--no-tests");
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(" ")}; try: deno task ok [--no-tests]`);
    Deno.exit(2);
  }
  const cwd = new URL("..", import.meta.url).pathname;
  const start = performance.now();
  const results = await runSteps(
    await findSteps(cwd, { tests: !Deno.args.includes("--no-tests") }),
    {
      cwd,
      jobs: Math.min(navigator.hardwareConcurrency, 4),
      onResult: (result) => console.log(describeResult(result)),
    },
  );
  console.log(describeAll(results, performance.now() - start));
  if (results.some((result) => !result.ok)) Deno.exit(1);
}
