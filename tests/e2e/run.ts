/**
 * `deno task e2e [FILE...]`: builds the testbed and tests its own parts, then runs
 * each test file of this folder in fresh namespaces with fresh state. With files
 * named, only those. Arguments after `--` go to `deno test`, such as
 * `-- --filter "M146"`.
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, goTest } from "../testbed/build.ts";
import { inNamespaces } from "../testbed/netns.ts";
import { cacheDir } from "../testbed/paths.ts";

const here = fileURLToPath(new URL(".", import.meta.url));

function testFiles(names: readonly string[]): string[] {
  const all = [...Deno.readDirSync(here)].map((entry) => entry.name)
    .filter((name) => name.endsWith("_test.ts")).sort();
  const wanted = names.map((name) => basename(name));
  return wanted.length === 0 ? all : all.filter((name) => wanted.includes(name));
}

/** Runs one file; its state, with all logs, stays in the cache until its next run. */
async function runFile(file: string, testArgs: readonly string[]): Promise<boolean> {
  const state = join(cacheDir(), "e2e", file.replace(/_test\.ts$/, ""));
  await Deno.mkdir(state, { recursive: true });
  // Another run of the same file would lose its state: wait for its end.
  using lock = await Deno.open(`${state}.lock`, { write: true, create: true });
  await lock.lock(true);
  const deno = [Deno.execPath(), "test", "-A", "--no-lock", ...testArgs, join(here, file)];
  const [name = "", ...args] = inNamespaces(deno);
  // kubectl remembers what an API server serves by its address alone, which all testbeds share.
  const env = { TESTBED_STATE: state, KUBECACHEDIR: join(state, "kubectl-cache") };
  const child = new Deno.Command(name, { args, env, stdout: "inherit", stderr: "inherit" }).spawn();
  const { success } = await child.status;
  if (!success) console.error(`${file} failed; logs: ${state}/log and ${state}/pods/logs`);
  return success;
}

/** Tests of the testbed's own code; they need no namespaces. */
async function testTestbed(): Promise<boolean> {
  await goTest();
  const args = ["test", "-A", "--no-lock", join(here, "..", "testbed")];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" });
  return (await child.spawn().status).success;
}

/** What `image_test.ts` puts into the image. In the namespaces nothing could be brought for it. */
async function buildProgram(): Promise<boolean> {
  const args = ["run", "-A", join(here, "..", "..", "tools", "build.ts")];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" });
  return (await child.spawn().status).success;
}

if (import.meta.main) {
  const split = Deno.args.indexOf("--");
  const names = split < 0 ? Deno.args : Deno.args.slice(0, split);
  const testArgs = split < 0 ? [] : Deno.args.slice(split + 1);
  await build({ log: console.log });
  let failed = names.length > 0 || await testTestbed() ? 0 : 1;
  const files = testFiles(names);
  if (files.includes("image_test.ts") && !await buildProgram()) failed++;
  for (const file of files) if (!await runFile(file, testArgs)) failed++;
  Deno.exit(failed === 0 ? 0 : 1);
}
