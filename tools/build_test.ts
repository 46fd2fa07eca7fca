import { assert, assertEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { judgeRuntime } from "./build/denort.ts";
import { sha256Of } from "./build/files.ts";
import { adviceOf, bundle } from "./build.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** What the bundle is made of. */
const SOURCES =
  "api backends cmd controllers core embedded extension kube operator proto tailscale telemetry vendor deno.json deno.lock main.ts mod.ts"
    .split(" ");

Deno.test("the advice is one line that names what to do and what happened", () => {
  const advice = adviceOf("dns error");
  assertEquals(advice.includes("\n"), false);
  for (const part of ["DENORT_BIN", "dl.deno.land", "dns error"]) assert(advice.includes(part));
});

Deno.test("a runtime of another sha256 than the pinned one is refused, and one that is not pinned is told", () => {
  assertEquals(judgeRuntime("aa", "aa").ok, true);
  const other = judgeRuntime("aa", "bb");
  assertEquals(other, { ok: false, say: "denort's sha256 is aa, not bb" });
  const unknown = judgeRuntime("aa", undefined);
  assert(unknown.ok && unknown.say.endsWith("DENORT_SHA256=aa"), unknown.say);
});

Deno.test("D1 two builds, in two folders, make the same bundle, byte for byte", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const hashes: string[] = [];
    for (const name of ["one", "another-place"]) {
      const root = join(folder, name);
      await Deno.mkdir(root);
      for (const source of SOURCES) await copy(join(ROOT, source), join(root, source));
      const made = await bundle(root, join(folder, `${name}.js`));
      assert(made.ok, made.stderr);
      hashes.push(await sha256Of(join(folder, `${name}.js`)));
    }
    assertEquals(hashes[0], hashes[1]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function copy(from: string, to: string): Promise<void> {
  if ((await Deno.stat(from)).isFile) return await Deno.copyFile(from, to);
  await Deno.mkdir(to);
  for await (const { name } of Deno.readDir(from)) await copy(join(from, name), join(to, name));
}
