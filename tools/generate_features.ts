/**
 * Writes `docs/features.md`: each feature row with the tests that name it in their
 * titles. With `--check` it writes nothing and fails when the page is stale.
 *
 * ```sh
 * deno run -A tools/generate_features.ts
 * ```
 *
 * @module
 */
import { parse } from "yaml";
import { type Area, featuresPage } from "./features/page.ts";
import { namedTests } from "./features/titles.ts";

const ROOT = new URL("../", import.meta.url);
const ROWS = new URL("docs/features.yaml", ROOT);
const PAGE = new URL("docs/features.md", ROOT);

/** What the page should be. */
export async function generatedPage(): Promise<string> {
  const areas = parse(await Deno.readTextFile(ROWS)) as Area[];
  return featuresPage(areas, await namedTests(ROOT));
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== "--check");
  if (unknown !== undefined) {
    console.error(`unknown argument ${unknown}; the only one is --check`);
    return 2;
  }
  const page = await generatedPage();
  const there = await Deno.readTextFile(PAGE).catch(() => "");
  if (page === there) return 0;
  if (args.includes("--check")) {
    console.error("stale: docs/features.md\ntry: bin/deno task generate");
    return 1;
  }
  await Deno.writeTextFile(PAGE, page);
  console.log("docs/features.md");
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
