/**
 * The files of the project.
 *
 * @module
 */

const SKIPPED = new Set(["node_modules", "vendor"]);

/** Paths of all TypeScript files below a folder, sorted; hidden folders are left out. */
export async function walkFiles(root: URL, below = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory, isFile } of Deno.readDir(new URL(below || ".", root))) {
    if (isFile && name.endsWith(".ts")) found.push(below + name);
    if (!isDirectory || name.startsWith(".") || SKIPPED.has(name)) continue;
    found.push(...await walkFiles(root, `${below}${name}/`));
  }
  return found.sort();
}
