/**
 * Reads the facts about every TypeScript file of a tree, in one run of `deno lint`
 * with the plugin of `facts.ts`.
 *
 * @module
 */
import type { Fact } from "./facts.ts";

/** What is known of one file. Paths are relative to the root, with `/`. */
export interface FileFacts {
  readonly path: string;
  lines: number;
  generated: boolean;
  /** False when the file kept the plugin from reporting. */
  complete: boolean;
  readonly imports: {
    readonly line: number;
    /** As written. */
    readonly from: string;
    /** The file, for one within the tree. */
    readonly target?: string;
    readonly names: readonly string[];
    readonly type: boolean;
  }[];
  readonly impure: { readonly line: number; readonly name: string }[];
  readonly functions: {
    readonly line: number;
    readonly name: string;
    readonly lines: number;
    readonly parameters: number;
  }[];
}

/** Folders that hold nothing of ours to check. */
const SKIPPED = new Set(["node_modules", "vendor", "dist", "coverage"]);

interface Diagnostic {
  readonly filename: string;
  readonly range: { readonly start: { readonly line: number } };
  readonly message: string;
  readonly code?: string;
}

interface LintReport {
  readonly diagnostics: readonly Diagnostic[];
  readonly errors: readonly { readonly file_path: string; readonly message: string }[];
}

/**
 * Facts about all files below `root`, by path.
 *
 * @throws when `deno lint` fails, or a file does not parse.
 */
export async function readFacts(root: string): Promise<FileFacts[]> {
  const base = await Deno.realPath(root);
  const paths = await Array.fromAsync(sources(base, ""));
  paths.sort();
  if (paths.length === 0) return [];
  const files = new Map(paths.map((path) => [path, emptyFacts(path)]));
  const report = await lint(paths.map((path) => `${base}/${path}`));
  for (const { filename, range, message, code } of report.diagnostics) {
    if (!code?.startsWith("facts/")) continue;
    const path = decodeURIComponent(new URL(filename).pathname).slice(base.length + 1);
    const file = files.get(path);
    if (file) addFact(file, range.start.line, JSON.parse(message) as Fact);
  }
  return [...files.values()];
}

async function* sources(base: string, folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(`${base}/${folder}`)) {
    if (entry.name.startsWith(".") || SKIPPED.has(entry.name)) continue;
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* sources(base, path);
    else if (entry.isFile && /\.tsx?$/.test(entry.name)) yield path;
  }
}

async function lint(paths: readonly string[]): Promise<LintReport> {
  const config = new URL("lint.json", import.meta.url).pathname;
  const command = new Deno.Command(Deno.execPath(), {
    args: ["lint", "--json", "--config", config, ...paths],
    stdout: "piped",
    stderr: "piped",
  });
  // Exit code 1 is normal: facts are diagnostics.
  const { stdout, stderr } = await command.output();
  const report = parseReport(new TextDecoder().decode(stdout));
  if (!report) throw new Error(`deno lint failed: ${new TextDecoder().decode(stderr)}`);
  const [broken] = report.errors;
  if (broken) throw new Error(`deno lint cannot read ${broken.file_path}: ${broken.message}`);
  return report;
}

function parseReport(text: string): LintReport | undefined {
  try {
    return JSON.parse(text) as LintReport;
  } catch {
    return undefined; // deno lint said on standard error why there is none
  }
}

function emptyFacts(path: string): FileFacts {
  const lists = { imports: [], impure: [], functions: [] };
  return { path, lines: 0, generated: false, complete: false, ...lists };
}

function addFact(file: FileFacts, line: number, fact: Fact): void {
  switch (fact.kind) {
    case "file":
      file.complete = true;
      file.lines = fact.lines;
      file.generated = fact.generated;
      return;
    case "import": {
      const target = resolve(file.path, fact.from);
      const { from, names, type } = fact;
      file.imports.push({ line, from, names, type, ...(target === undefined ? {} : { target }) });
      return;
    }
    case "impure":
      file.impure.push({ line, name: fact.name });
      return;
    case "function":
      file.functions.push({ ...fact, line });
  }
}

/** The file that a relative specifier names; undefined for a package. */
function resolve(importer: string, specifier: string): string | undefined {
  if (!/^\.{1,2}\//.test(specifier)) return undefined;
  // Any base will do; a path that leaves the tree ends at its root, in no area.
  return decodeURIComponent(new URL(specifier, `file:///${importer}`).pathname.slice(1));
}
