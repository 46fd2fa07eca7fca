import { assert, assertEquals } from "@std/assert";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The pages whose links are checked: those of the root, and of all of docs/. */
async function pages(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of [".", "docs", "docs/adr", "docs/reference", "tests/testbed"]) {
    for await (const { name } of Deno.readDir(join(ROOT, folder))) {
      if (name.endsWith(".md")) found.push(join(ROOT, folder, name));
    }
  }
  return found.sort();
}

/** A page without what is shown as code, where brackets are no links. */
async function prose(page: string): Promise<string> {
  return (await Deno.readTextFile(page)).replace(/^```.*?^```/gms, "").replace(/`[^`\n]*`/g, "x");
}

function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => link ?? [])
    .filter((link) => !/^[a-z]+:/.test(link));
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsIn(text: string): string[] {
  return [...text.matchAll(/^#+ +(.+)$/gm)].map(([, heading = ""]) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
  );
}

/** Why a link of the page leads nowhere. */
async function problemOf(page: string, link: string): Promise<string | undefined> {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  const where = `${relative(ROOT, page)}: ${link}`;
  const stat = await Deno.stat(target).catch(() => undefined);
  if (!stat) return `${where}: no such file`;
  if (anchor === undefined) return undefined;
  const anchors = anchorsIn(await Deno.readTextFile(target));
  return anchors.includes(anchor) ? undefined : `${where}: no such heading`;
}

Deno.test("every relative link of the documentation leads to a file and a heading that are there", async () => {
  const problems: string[] = [];
  let links = 0;
  for (const page of await pages()) {
    for (const link of linksIn(await prose(page))) {
      links++;
      problems.push(...[await problemOf(page, link)].filter((problem) => problem !== undefined));
    }
  }
  assert(links > 50, `only ${links} links were found`);
  assertEquals(problems, []);
});

Deno.test("every decision is in the list of decisions", async () => {
  const list = await Deno.readTextFile(join(ROOT, "docs/adr/README.md"));
  for await (const { name } of Deno.readDir(join(ROOT, "docs/adr"))) {
    if (/^\d{4}-/.test(name)) {
      assert(list.includes(`](${name})`), `docs/adr/README.md lacks ${name}`);
    }
  }
});
