import { assert, assertEquals } from "@std/assert";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier: string };
    readonly specifier: string;
    readonly isDynamic?: boolean;
  }[];
}

/** The modules of the program and what each imports at run time. */
async function graph(): Promise<ReadonlyMap<string, Module>> {
  const main = new URL("../main.ts", import.meta.url);
  const args = ["info", "--json", main.pathname];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: Module[] };
  return new Map(modules.map((module) => [module.specifier, module]));
}

Deno.test("an ordinary kubeconfig loads nothing of client-node: one dynamic import names it", async () => {
  const modules = await graph();
  const dynamic: string[] = [];
  for (const [file, { dependencies = [] }] of modules) {
    if (!file.startsWith("file:")) continue;
    for (const { specifier, code, isDynamic } of dependencies) {
      if (!code || !specifier.startsWith("@kubernetes/client-node")) continue;
      assert(isDynamic, `${file} imports ${specifier} whenever it is loaded`);
      dynamic.push(`${file.split("/").pop()} ${specifier}`);
    }
  }
  assertEquals(dynamic, ["exec_plugin.ts @kubernetes/client-node/dist/exec_auth.js"]);
});
