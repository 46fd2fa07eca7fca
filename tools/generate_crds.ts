/**
 * Writes `crds/*.yaml` and `docs/reference/api.md` from the kinds.
 *
 *     deno run -R -W tools/generate_crds.ts [--check]
 *
 * With `--check` nothing is written: stale files are named, and the exit code is 1.
 *
 * @module
 */

import { generatedFiles } from "../api/generated.ts";

const root = new URL("../", import.meta.url);

/** The files below `directory` whose content differs from what the kinds say. */
export async function staleFiles(directory: URL = root): Promise<string[]> {
  const files = generatedFiles();
  const stale: string[] = [];
  for (const [path, content] of files) {
    if (await readIfThere(new URL(path, directory)) !== content) stale.push(path);
  }
  return [...stale, ...await leftovers(directory, new Set(files.keys()))];
}

/** CRDs of kinds that are no more. */
async function leftovers(directory: URL, wanted: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const entry of Deno.readDir(new URL("crds/", directory))) {
      const path = `crds/${entry.name}`;
      if (entry.name.endsWith(".yaml") && !wanted.has(path)) found.push(path);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort();
}

async function readIfThere(url: URL): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Writes what is stale below `directory` and removes leftovers; returns the paths. */
export async function writeFiles(directory: URL = root): Promise<string[]> {
  const files = generatedFiles();
  const stale = await staleFiles(directory);
  for (const path of stale) {
    const url = new URL(path, directory);
    const content = files.get(path);
    if (content === undefined) {
      await Deno.remove(url);
      continue;
    }
    await Deno.mkdir(new URL("./", url), { recursive: true });
    await Deno.writeTextFile(url, content);
  }
  return stale;
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown !== undefined) {
    console.error(`unknown argument ${unknown}; the only one is --check`);
    return 2;
  }
  if (!args.includes("--check")) {
    for (const path of await writeFiles()) console.log(path);
    return 0;
  }
  const stale = await staleFiles();
  for (const path of stale) console.error(`stale: ${path}`);
  if (stale.length > 0) console.error("try: deno run -R -W tools/generate_crds.ts");
  return stale.length > 0 ? 1 : 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
