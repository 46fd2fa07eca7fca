/**
 * Makes the program as one file, and runs it to see that it is one.
 *
 * ```sh
 * bin/deno task build
 * ```
 *
 * `dist/tailscale-gateway` is an executable where Deno's runtime for executables
 * (`denort`) can be had: from Deno's release server, from Deno's cache, or named by
 * `$DENORT_BIN`. Elsewhere `dist/tailscale-gateway.js` is made, which Deno runs.
 *
 * @module
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import denoJson from "../deno.json" with { type: "json" };

/** What the program may do; it asks for nothing more while it runs. */
export const PERMISSIONS: readonly string[] = [
  "--no-prompt",
  "--allow-net",
  "--allow-read",
  "--allow-env",
];

/**
 * What `standalone` loads, from `../examples/quickstart/` as its module sees it. The
 * bundle is one module, so the executable holds it a folder deep, beside the example:
 * `deno compile --bundle` would put it where `..` leads out of the executable.
 */
const EXAMPLE = "examples/quickstart";
const BUNDLE = "bundle/tailscale-gateway.js";

/** How an attempt to make an executable went. */
export type Verdict =
  | { readonly kind: "made" }
  | { readonly kind: "noRuntime"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

/** What a command printed, and whether it succeeded. */
export interface CommandResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** What `version` prints. */
export function versionLine(version: string): string {
  return `tailscale-gateway ${version}`;
}

/** Says whether `deno compile` worked, and where not, whether for want of the runtime alone. */
export function judgeCompile({ ok, stderr }: CommandResult): Verdict {
  if (ok) return { kind: "made" };
  const lines = plain(stderr).split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const why = lines.find((line) => /denort/i.test(line))?.replace(/^\d+: /, "");
  return why
    ? { kind: "noRuntime", why }
    : { kind: "failed", why: lines.join("\n") || "deno compile said nothing" };
}

/**
 * Says whether what was made is our program. Deno takes any file for the runtime: with
 * itself it makes an executable that is Deno, and reports success.
 */
export function judgeOutput({ ok, stdout, stderr }: CommandResult, version: string): Verdict {
  if (ok && stdout.trim() === versionLine(version)) return { kind: "made" };
  const said = plain(stdout + stderr).trim().split("\n")[0] ?? "";
  return {
    kind: "noRuntime",
    why: `what was made is not our program: asked for its version, it says "${said}"`,
  };
}

function plain(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/\x1b\[[0-9;]*m/g, "");
}

/** What was made. */
interface Product {
  readonly file: string;
  /** How it is run. */
  readonly command: readonly string[];
}

/** Builds below `root`; gives nothing, and says why, where nothing runnable came of it. */
async function build(root: string): Promise<Product | undefined> {
  const dist = join(root, "dist"), stage = join(dist, "stage");
  await remove(stage);
  await Deno.mkdir(join(stage, "bundle"), { recursive: true });
  try {
    const bundled = await bundle(root, join(stage, BUNDLE));
    if (!bundled.ok) {
      console.error(`deno bundle failed:\n${bundled.stdout}${bundled.stderr}`);
      return undefined;
    }
    await copyFiles(join(root, EXAMPLE), join(stage, EXAMPLE));
    return await executable(dist, stage) ?? await script(dist, join(stage, BUNDLE));
  } finally {
    await remove(stage);
  }
}

function bundle(root: string, output: string): Promise<CommandResult> {
  const flags = ["bundle", "--quiet", "--minify", "--platform", "deno", "--output", output];
  return run([Deno.execPath(), ...flags, "main.ts"], root);
}

/** The executable, where the runtime for it can be had. */
async function executable(dist: string, stage: string): Promise<Product | undefined> {
  const file = join(dist, "tailscale-gateway");
  await remove(file);
  const flags = ["compile", "--quiet", "--no-check", "--no-lock", ...PERMISSIONS];
  const files = ["--include", EXAMPLE, "--output", file, BUNDLE];
  const compiled = judgeCompile(await run([Deno.execPath(), ...flags, ...files], stage));
  const verdict = compiled.kind === "made"
    ? judgeOutput(await run([file, "version"], dist), denoJson.version)
    : compiled;
  if (verdict.kind === "made") return { file, command: [file] };
  await remove(file);
  console.error(
    verdict.kind === "failed" ? `deno compile failed:\n${verdict.why}` : adviceOf(verdict.why),
  );
  return undefined;
}

/** In one line: why there is no executable, and what to do. */
export function adviceOf(why: string): string {
  return `no executable: Deno's runtime for executables, denort ${Deno.version.deno}, could not ` +
    "be had; let this machine reach dl.deno.land, or set DENORT_BIN to the denort of that " +
    `version (${why})`;
}

/** The bundle, which the pinned Deno runs. */
async function script(dist: string, bundled: string): Promise<Product | undefined> {
  const file = join(dist, basename(bundled));
  await Deno.copyFile(bundled, file);
  const command = [Deno.execPath(), "run", ...PERMISSIONS, "--no-config", file];
  const verdict = judgeOutput(await run([...command, "version"], dist), denoJson.version);
  if (verdict.kind === "made") return { file, command: ["bin/deno", ...command.slice(1)] };
  console.error(verdict.why);
  return undefined;
}

async function run(command: readonly string[], cwd: string): Promise<CommandResult> {
  const [program = "", ...args] = command;
  const decoder = new TextDecoder();
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  return { ok: success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

async function copyFiles(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isFile } of Deno.readDir(from)) {
    if (isFile) await Deno.copyFile(join(from, name), join(to, name));
  }
}

async function remove(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const product = await build(root);
  if (!product) Deno.exit(1);
  const { size } = await Deno.stat(product.file);
  const file = product.file.slice(root.length);
  const command = product.command.join(" ").replaceAll(root, "");
  console.log(`made ${file}, ${(size / 1e6).toFixed(1)} MB, version ${denoJson.version}`);
  console.log(`try: ${command} standalone`);
}
