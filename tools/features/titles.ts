/**
 * The feature rows that tests name at the start of their titles.
 *
 * @module
 */
import { walkFiles } from "./walk.ts";

/** A test, or a step of one, that names rows. */
export interface NamedTest {
  /** Path below the root. */
  readonly file: string;
  /** The title without the rows. */
  readonly title: string;
  readonly rows: readonly string[];
}

/** A text in quotes that begins with rows. */
const TITLE = /(["'`])((?:[MD]\d+ )+)((?:\\.|(?!\1).)+)/g;
/** A value in a template. */
const VALUE = /\$\{[^}]*\}/g;

/** The titles in a source that name rows. */
export function titlesIn(file: string, source: string): NamedTest[] {
  return [...source.matchAll(TITLE)].map(([, , rows = "", title = ""]) => ({
    file,
    title: title.replace(VALUE, "…").replace(/\\(.)/g, "$1"),
    rows: rows.trim().split(" "),
  }));
}

/** All tests below a folder that name rows, by file. */
export async function namedTests(root: URL): Promise<NamedTest[]> {
  const files = (await walkFiles(root)).filter((file) =>
    file.endsWith("_test.ts") || (file.startsWith("tests/") && file.endsWith(".ts"))
  );
  // The generator's own tests speak of rows without showing them.
  const sources = files.filter((file) => !file.startsWith("tools/features/"));
  const found = await Promise.all(
    sources.map(async (file) => titlesIn(file, await Deno.readTextFile(new URL(file, root)))),
  );
  return found.flat();
}
