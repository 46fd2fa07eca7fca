/**
 * Checks the arrows of the design: who may import whom, which folders are pure,
 * that no imports go in circles, and that files and functions stay small.
 *
 * ```sh
 * deno run -A tools/check_architecture.ts
 * ```
 *
 * @module
 */
import { type FileFacts, readFacts } from "./architecture/read.ts";

/** A part of the program. */
interface Area {
  readonly name: string;
  /** Which files it is made of; a file belongs to the first area that it fits. */
  readonly files: RegExp;
  /** Areas that it may import; `*` for all. Its own files it always may. */
  readonly imports: readonly string[];
  /** Areas of which it may import types alone. */
  readonly types?: readonly string[];
  /** No I/O, clock, chance, timer, console; and only {@linkcode PURE_PACKAGES}. */
  readonly pure?: true;
}

const PURE_AREAS = ["core", "api", "backends", "controllers", "proto", "extension"];
const ALL_BUT_ENTRY = [...PURE_AREAS, "extension server", "kube", "tailscale", "telemetry"];

/** Who may import whom. */
export const AREAS: readonly Area[] = [
  { name: "tests", files: /_test\.ts$|(^|\/)(tests|testdata|testing)(\/|\.ts$)/, imports: ["*"] },
  { name: "tools", files: /^tools\//, imports: ["*"] },
  { name: "core", files: /^core\//, imports: [], pure: true },
  { name: "api", files: /^api\//, imports: ["core"], pure: true },
  { name: "backends", files: /^backends\//, imports: ["core", "api"], pure: true },
  {
    name: "controllers",
    files: /^controllers\//,
    imports: ["core", "api", "backends"],
    pure: true,
  },
  { name: "proto", files: /^proto\//, imports: [], pure: true },
  {
    name: "extension server",
    files: /^extension\/server(_[a-z_]+)?\.ts$/,
    imports: ["core", "extension", "proto"],
    types: ["telemetry"],
  },
  {
    name: "extension",
    files: /^extension\//,
    imports: ["core", "api", "backends", "proto"],
    pure: true,
  },
  { name: "kube", files: /^kube\//, imports: ["core", "telemetry"] },
  { name: "tailscale", files: /^tailscale\//, imports: ["core"] },
  { name: "telemetry", files: /^telemetry\//, imports: ["core"] },
  { name: "embedded", files: /^embedded\//, imports: ["core", "api", "kube"] },
  { name: "operator", files: /^operator\//, imports: [...ALL_BUT_ENTRY, "embedded"] },
  { name: "cmd", files: /^cmd\//, imports: [...ALL_BUT_ENTRY, "embedded", "operator"] },
  { name: "main.ts", files: /^main\.ts$/, imports: ["cmd"] },
  { name: "mod.ts", files: /^mod\.ts$/, imports: PURE_AREAS, pure: true },
];

/**
 * Packages (with what lies below them) that pure areas may import, and which of
 * their names. Types of any package may be imported.
 */
export const PURE_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "ipaddr.js": ["*"],
  "node:buffer": ["*"],
  "node:crypto": ["createHash"],
  "node:net": ["isIP", "isIPv4", "isIPv6"],
  "node:util": ["isDeepStrictEqual"],
  "protobufjs": ["*"],
  "yaml": ["*"],
  "zod": ["*"],
};

/** Sizes that a reader can hold in the head. Tests and generated files are free of them. */
export const LIMITS = { fileLines: 300, functionLines: 40, parameters: 5 };

/** Checks the tree below a folder. One line per violation, sorted; empty when all is well. */
export async function checkArchitecture(root: string): Promise<string[]> {
  const files = await readFacts(root);
  const known = new Map(files.map((file) => [file.path, file]));
  const problems = files.flatMap((file) => [
    ...checkFacts(file),
    ...checkImports(file),
    ...checkPurity(file),
    ...checkSizes(file),
  ]);
  return [...problems.sort(), ...findCycles(known)];
}

function areaOf(path: string): Area | undefined {
  return AREAS.find((area) => area.files.test(path));
}

function checkFacts(file: FileFacts): string[] {
  const problems: string[] = [];
  if (!areaOf(file.path)) {
    problems.push(
      `${file.path}: in no area; add its folder to AREAS of tools/check_architecture.ts`,
    );
  }
  if (!file.complete) {
    problems.push(`${file.path}: hides from the check by a deno-lint-ignore-file`);
  }
  return problems;
}

function checkImports(file: FileFacts): string[] {
  const area = areaOf(file.path);
  if (!area || area.imports.includes("*")) return [];
  return file.imports.flatMap((imported) => {
    if (imported.target === undefined) return [];
    const target = areaOf(imported.target);
    if (!target || target === area || area.imports.includes(target.name)) return [];
    if (imported.type && area.types?.includes(target.name)) return [];
    return [`${file.path}:${imported.line}: ${area.name} may not import ${imported.target}`];
  });
}

function checkPurity(file: FileFacts): string[] {
  const area = areaOf(file.path);
  if (!area?.pure) return [];
  const where = (line: number) => `${file.path}:${line}: ${area.name} is pure`;
  const globals = file.impure.map((use) => `${where(use.line)}: no ${use.name}`);
  const packages = file.imports
    .filter(({ target, type }) => target === undefined && !type)
    .filter(({ from, names }) => !isPurePackage(from, names))
    .map(({ line, from }) => `${where(line)}: no import of "${from}"`);
  return [...globals, ...packages];
}

function isPurePackage(from: string, names: readonly string[]): boolean {
  return Object.entries(PURE_PACKAGES).some(([name, allowed]) =>
    (from === name || from.startsWith(`${name}/`)) &&
    (allowed.includes("*") || names.every((name) => allowed.includes(name)))
  );
}

function checkSizes(file: FileFacts): string[] {
  if (file.generated || file.path.endsWith("_test.ts")) return [];
  const problems: string[] = [];
  if (file.lines > LIMITS.fileLines) {
    problems.push(`${file.path}: ${file.lines} lines; at most ${LIMITS.fileLines}, split by topic`);
  }
  for (const { line, name, lines, parameters } of file.functions) {
    const where = `${file.path}:${line}: ${name}()`;
    if (lines > LIMITS.functionLines) {
      problems.push(`${where} has ${lines} lines; at most ${LIMITS.functionLines}`);
    }
    if (parameters > LIMITS.parameters) {
      problems.push(`${where} has ${parameters} parameters; at most ${LIMITS.parameters}`);
    }
  }
  return problems;
}

/**
 * One line per circle, beginning at its first file by name. Imports of types alone
 * do not count: nothing of them is left at run time.
 */
function findCycles(files: ReadonlyMap<string, FileFacts>): string[] {
  const state = new Map<string, "open" | "done">();
  const cycles = new Set<string>();
  const visit = (path: string, stack: readonly string[]): void => {
    if (state.get(path) === "open") return void cycles.add(describeCycle(path, stack));
    if (state.get(path) === "done") return;
    state.set(path, "open");
    for (const { target, type } of files.get(path)?.imports ?? []) {
      if (target !== undefined && !type) visit(target, [...stack, path]);
    }
    state.set(path, "done");
  };
  for (const path of [...files.keys()].sort()) visit(path, []);
  return [...cycles].sort();
}

function describeCycle(path: string, stack: readonly string[]): string {
  const circle = stack.slice(stack.indexOf(path));
  const first = circle.indexOf([...circle].sort()[0]!);
  const turned = [...circle.slice(first), ...circle.slice(0, first)];
  return `imports go in a circle: ${[...turned, turned[0]].join(" → ")}`;
}

if (import.meta.main) {
  const root = Deno.args[0] ?? new URL("..", import.meta.url).pathname;
  const problems = await checkArchitecture(root);
  for (const problem of problems) console.error(problem);
  console.error(problems.length === 0 ? "architecture: ok" : `${problems.length} problems`);
  if (problems.length > 0) Deno.exit(1);
}
