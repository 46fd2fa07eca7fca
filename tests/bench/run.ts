/**
 * `deno task bench`: measures what the goals name, each figure beside its
 * reference in the same run.
 *
 * ```sh
 * bin/deno task bench                     # all of it, in a few minutes
 * bin/deno task bench hooks queue         # only these
 * bin/deno task bench --full              # the sizes of the goals
 * bin/deno task bench --json figures.json # the figures as JSON too; - prints them alone
 * ```
 *
 * @module
 */
import { parseArgs } from "node:util";
import { type BenchOptions, runBench } from "./bench.ts";
import { ChildError } from "./child.ts";
import { type Figure, figureTable, type Skip, verdictOf } from "./figures.ts";
import { buildReferences } from "./go.ts";

/** In this order, one after the other. */
const BENCHES = ["hooks", "queue", "snapshot", "reaction", "storm", "startup", "image"] as const;
type Name = typeof BENCHES[number];

/** Those that use a Go program. */
const WITH_REFERENCE: ReadonlySet<Name> = new Set(["hooks", "queue"]);

const USAGE = `usage: deno task bench [${BENCHES.join("|")}]... [--full] [--json FILE|-]`;

interface Arguments {
  readonly names: readonly Name[];
  readonly full: boolean;
  readonly json?: string;
}

function readArguments(args: readonly string[]): Arguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { full: { type: "boolean" }, json: { type: "string" } },
  });
  const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench === name));
  if (unknown.length > 0) throw new TypeError(`no such bench: ${unknown.join(", ")}`);
  const names = BENCHES.filter((name) => positionals.length === 0 || positionals.includes(name));
  return {
    names,
    full: values.full ?? false,
    ...(values.json === undefined ? {} : { json: values.json }),
  };
}

async function main({ names, full, json }: Arguments): Promise<number> {
  // Where the figures go to stdout, nothing else does.
  const say = json === "-" ? console.error : console.log;
  const began = performance.now();
  const wanted = names.some((name) => WITH_REFERENCE.has(name));
  const options: BenchOptions = { full, ...(wanted ? await buildReferences(say) : {}) };
  const figures: Figure[] = [], skipped: Skip[] = [];
  for (const name of names) {
    say(`measuring: ${name}`);
    try {
      const outcome = await runBench(`./${name}.ts`, options);
      figures.push(...outcome.figures);
      skipped.push(...outcome.skipped ?? []);
    } catch (error) {
      if (!(error instanceof ChildError)) throw error;
      skipped.push({ id: name, why: error.message });
    }
  }
  say(`\n${figureTable(figures)}\n`);
  for (const { id, why } of skipped) say(`not measured: ${id}: ${why}`);
  say(`in ${((performance.now() - began) / 1000).toFixed(0)} s, on ${machine()}`);
  await writeJson({ figures, skipped }, json);
  return figures.length > 0 ? 0 : 1;
}

async function writeJson(
  { figures, skipped }: { figures: readonly Figure[]; skipped: readonly Skip[] },
  file: string | undefined,
): Promise<void> {
  if (file === undefined) return;
  const judged = figures.map((figure) => ({ ...figure, verdict: verdictOf(figure) }));
  const report = {
    at: new Date().toISOString(),
    deno: Deno.version.deno,
    machine: machine(),
    figures: judged,
    skipped,
  };
  const text = JSON.stringify(report, null, 2);
  if (file === "-") console.log(text);
  else await Deno.writeTextFile(file, `${text}\n`);
}

function machine(): string {
  const load = Deno.loadavg()[0]?.toFixed(1);
  return `${navigator.hardwareConcurrency} cores, load ${load}`;
}

if (import.meta.main) {
  let args: Arguments;
  try {
    args = readArguments(Deno.args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`${error.message}\n${USAGE}`);
    Deno.exit(2);
  }
  Deno.exit(await main(args));
}
