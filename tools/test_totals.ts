/**
 * Adds up what `deno test` runs said, from their logs:
 *
 * ```sh
 * deno run --allow-read tools/test_totals.ts 0=unit.log 1=e2e.log
 * ```
 *
 * Each argument is the exit code of a run and its log. Prints one line, `12 passed,
 * 1 failed` (and `, 2 skipped` where some were), and fails when anything failed.
 *
 * @module
 */

/** Numbers of tests. */
export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A finished run: its exit code and what it printed. */
export interface Run {
  readonly code: number;
  readonly output: string;
}

// Such as: ok | 12 passed (3 steps) | 0 failed | 1 ignored (2 steps) | 4 filtered out (1s)
const SUMMARY =
  /^(?:ok|FAILED) \| (\d+) passed(?: \([^)]*\))? \| (\d+) failed(?: \([^)]*\))?(?: \| (\d+) ignored)?/gm;
const ANSI = new RegExp(String.raw`\u001b\[[0-9;]*m`, "g");

/** What the summaries in the output of `deno test` say. */
export function parseTotals(output: string): Totals {
  const found = [...output.replace(ANSI, "").replaceAll("\r", "").matchAll(SUMMARY)];
  return sum(found.map(([, passed, failed, ignored]) => ({
    passed: Number(passed),
    failed: Number(failed),
    skipped: Number(ignored ?? 0),
  })));
}

/**
 * The totals of all runs. A run that failed without a failed test (types, a crash, a
 * check that is no test) counts as one failure, so that it cannot look like success.
 */
export function totalsOf(runs: readonly Run[]): Totals {
  return sum(runs.map(({ code, output }) => {
    const totals = parseTotals(output);
    return code !== 0 && totals.failed === 0 ? { ...totals, failed: 1 } : totals;
  }));
}

/** `12 passed, 0 failed`, with `, 1 skipped` where some were. */
export function describeTotals({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed` + (skipped > 0 ? `, ${skipped} skipped` : "");
}

function sum(totals: readonly Totals[]): Totals {
  return totals.reduce((all, one) => ({
    passed: all.passed + one.passed,
    failed: all.failed + one.failed,
    skipped: all.skipped + one.skipped,
  }), { passed: 0, failed: 0, skipped: 0 });
}

async function readRun(argument: string): Promise<Run> {
  const [, code, path] = /^(\d+)=(.+)$/s.exec(argument) ?? [];
  if (code === undefined || path === undefined) {
    throw new TypeError(`"${argument}" is not CODE=LOG, such as 0=unit.log`);
  }
  return { code: Number(code), output: await Deno.readTextFile(path) };
}

if (import.meta.main) {
  const totals = totalsOf(await Promise.all(Deno.args.map(readRun)));
  console.log(describeTotals(totals));
  if (totals.failed > 0) Deno.exit(1);
}
