/**
 * Runs one bench in a process of its own, so that none measures what another left
 * behind: `bench.ts MODULE OPTIONS`, both as JSON; prints its outcome as JSON.
 *
 * @module
 */
import { Child, denoCommand } from "./child.ts";
import type { Outcome } from "./figures.ts";

/** What every bench is given. */
export interface BenchOptions {
  /** The sizes of the goals instead of those that a coffee break has time for. */
  readonly full: boolean;
  /** The reference server and client, if they could be built. */
  readonly refserver?: string;
  /** The bench of controller-runtime's queue, if it could be built. */
  readonly queuebench?: string;
}

/** What the module of a bench exports. */
export interface Bench {
  measure(options: BenchOptions): Promise<Outcome>;
}

/** Runs a bench of this folder. */
export async function runBench(module: string, options: BenchOptions): Promise<Outcome> {
  const args = [module, JSON.stringify(options)];
  await using child = new Child(denoCommand("bench.ts", { args }));
  return JSON.parse(await child.line());
}

if (import.meta.main) {
  const [module = "", options = "{}"] = Deno.args;
  const bench: Bench = await import(new URL(module, import.meta.url).href);
  console.log(JSON.stringify(await bench.measure(JSON.parse(options))));
  Deno.exit(0);
}
