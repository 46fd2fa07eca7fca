/**
 * Makes the program as one file, runs it to see that it is one, and lists what is in it.
 *
 * ```sh
 * bin/deno task build
 * ```
 *
 * | in `dist/`                   |                                                        |
 * | ---------------------------- | ------------------------------------------------------ |
 * | `tailscale-gateway.js`       | the bundle, which Deno runs                            |
 * | `tailscale-gateway`          | the executable, where Deno's runtime for it can be had |
 * | `tailscale-gateway.cdx.json` | its packages, as CycloneDX                             |
 *
 * The runtime (`denort`) comes from Deno's release server, from Deno's cache, or is named
 * by `$DENORT_BIN`. `$DENORT_SHA256` pins what comes from the server.
 *
 * @module
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import denoJson from "../deno.json" with { type: "json" };
import { judgeRuntime, runtimeArchive } from "./build/denort.ts";
import { type CommandResult, remove, runCommand, sha256Of } from "./build/files.ts";
import { describeProgram } from "./build/sbom.ts";
import { judgeCompile, judgeOutput, type Verdict } from "./build/verdict.ts";
import { BUNDLE_FLAGS, HEAP_FLAG, PERMISSIONS } from "./permissions.ts";

/**
 * What `standalone` loads, from `../examples/quickstart/` as its module sees it. The
 * bundle is one module, so the executable holds it a folder deep, beside the example:
 * `deno compile --bundle` would put it where `..` leads out of the executable.
 */
const EXAMPLE = "examples/quickstart";
const BUNDLE = "bundle/tailscale-gateway.js";

/** Without the code cache, which is a file that it would write beside itself when it starts. */
const COMPILE_FLAGS: readonly string[] = [...PERMISSIONS, "--no-code-cache", HEAP_FLAG];

/** A file that was made. */
interface Product {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  /** How it is run, if it is. */
  readonly command?: readonly string[];
}

/** What was made; `undefined` where not even the bundle runs. Says why on stderr. */
async function build(root: string): Promise<Product[] | undefined> {
  const dist = join(root, "dist"), stage = join(dist, "stage");
  await remove(dist);
  await Deno.mkdir(join(stage, "bundle"), { recursive: true });
  try {
    const bundled = await bundle(root, join(stage, BUNDLE));
    if (!bundled.ok) {
      console.error(`deno bundle failed:\n${bundled.stdout}${bundled.stderr}`);
      return undefined;
    }
    await copyFiles(join(root, EXAMPLE), join(stage, EXAMPLE));
    const runnable = await script(dist, join(stage, BUNDLE));
    if (!runnable) return undefined;
    const made = [runnable, await bill(root, runnable)];
    const standing = await executable(dist, stage);
    return standing ? [...made, standing] : made;
  } finally {
    await remove(stage);
  }
}

/** Bundles `main.ts` of a tree into one minified file. */
export function bundle(root: string, output: string): Promise<CommandResult> {
  const flags = ["bundle", "--quiet", "--minify", "--platform", "deno", "--output", output];
  return runCommand([Deno.execPath(), ...flags, "main.ts"], root);
}

/** Puts a staged bundle and the example into an executable. */
export function compile(
  stage: string,
  output: string,
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const flags = ["compile", "--quiet", "--no-check", "--no-lock", "--no-config", ...COMPILE_FLAGS];
  const files = ["--include", EXAMPLE, "--output", output, BUNDLE];
  return runCommand([Deno.execPath(), ...flags, ...files], stage, env);
}

/** The bundle, which the pinned Deno runs. */
async function script(dist: string, bundled: string): Promise<Product | undefined> {
  const file = join(dist, basename(bundled));
  await Deno.copyFile(bundled, file);
  const command = [Deno.execPath(), "run", ...BUNDLE_FLAGS, file];
  const verdict = judgeOutput(
    await runCommand([...command, "version"], dist),
    denoJson.version,
  );
  if (verdict.kind === "made") return await product(file, ["bin/deno", ...command.slice(1)]);
  console.error(verdict.why);
  return undefined;
}

async function bill(root: string, program: Product): Promise<Product> {
  const file = join(root, "dist", "tailscale-gateway.cdx.json");
  const bom = await describeProgram(root, { version: denoJson.version, sha256: program.sha256 });
  await Deno.writeTextFile(file, `${JSON.stringify(bom, null, 2)}\n`);
  return await product(file);
}

/** The executable, where the runtime for it can be had. */
async function executable(dist: string, stage: string): Promise<Product | undefined> {
  const file = join(dist, "tailscale-gateway");
  const verdict = await judgeExecutable(file, await compile(stage, file));
  if (verdict.kind === "made") return await product(file, [file]);
  await remove(file);
  console.error(
    verdict.kind === "failed" ? `deno compile failed:\n${verdict.why}` : adviceOf(verdict.why),
  );
  return undefined;
}

async function judgeExecutable(file: string, compiled: CommandResult): Promise<Verdict> {
  const verdict = judgeCompile(compiled);
  if (verdict.kind !== "made") return verdict;
  const archive = Deno.env.get("DENORT_BIN") ? undefined : await runtimeArchive();
  if (archive) {
    const known = judgeRuntime(await sha256Of(archive), Deno.env.get("DENORT_SHA256"));
    console.error(known.say);
    if (!known.ok) return { kind: "failed", why: `${archive} is not what was pinned` };
  }
  return judgeOutput(await runCommand([file, "version"], join(file, "..")), denoJson.version);
}

/** In one line: why there is no executable, and what to do. */
export function adviceOf(why: string): string {
  return `no executable: Deno's runtime for executables, denort ${Deno.version.deno}, could not ` +
    "be had; let this machine reach dl.deno.land, or set DENORT_BIN to the denort of that " +
    `version (${why})`;
}

async function product(file: string, command?: readonly string[]): Promise<Product> {
  const { size } = await Deno.stat(file);
  return { file, bytes: size, sha256: await sha256Of(file), ...(command ? { command } : {}) };
}

async function copyFiles(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isFile } of Deno.readDir(from)) {
    if (isFile) await Deno.copyFile(join(from, name), join(to, name));
  }
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const products = await build(root);
  if (!products) Deno.exit(1);
  for (const { file, bytes, sha256 } of products) {
    const size = bytes < 1e6 ? `${(bytes / 1e3).toFixed(0)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(`made ${file.slice(root.length)}, ${size}, sha256 ${sha256}`);
  }
  const { command = [] } = products.findLast((product) => product.command) ?? {};
  // A shell would take brackets for a pattern.
  const words = command.map((word) => word.includes("[") ? `'${word}'` : word);
  console.log(`try: ${words.join(" ").replaceAll(root, "")} standalone`);
}
