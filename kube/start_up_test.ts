import { assert, assertEquals } from "@std/assert";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier: string };
    readonly specifier: string;
    readonly isDynamic?: boolean;
  }[];
}

interface Graph {
  readonly modules: readonly Module[];
  readonly npmPackages: Readonly<Record<string, { readonly localPath: string }>>;
}

/** The modules of the program and what each imports at run time. */
async function graph(): Promise<Graph> {
  const main = new URL("../main.ts", import.meta.url);
  const args = ["info", "--json", main.pathname];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

Deno.test("an ordinary kubeconfig loads nothing of client-node: one dynamic import names it", async () => {
  const { modules } = await graph();
  const dynamic: string[] = [];
  for (const { specifier: file, dependencies = [] } of modules) {
    if (!file.startsWith("file:")) continue;
    for (const { specifier, code, isDynamic } of dependencies) {
      if (!code || !specifier.startsWith("@kubernetes/client-node")) continue;
      assert(isDynamic, `${file} imports ${specifier} whenever it is loaded`);
      dynamic.push(`${file.split("/").pop()} ${specifier}`);
    }
  }
  assertEquals(dynamic, ["exec_plugin.ts @kubernetes/client-node/dist/exec_auth.js"]);
});

Deno.test("the one file of client-node that an exec plugin loads needs no other package", async () => {
  const { npmPackages } = await graph();
  const [, found] = Object.entries(npmPackages)
    .find(([id]) => id.startsWith("@kubernetes/client-node@"))!;
  const text = await Deno.readTextFile(`${found.localPath}/dist/exec_auth.js`);
  const imported = [...text.matchAll(/\b(?:from|import|require)\b\s*\(?\s*["']([^"']+)/g)];
  assertEquals(imported.map(([, name]) => name), ["node:child_process"]);
});
