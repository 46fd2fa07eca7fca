/**
 * The runtime that `deno compile` brings from Deno's release server, which checks nothing
 * but the connection's certificate.
 *
 * @module
 */
import { join } from "node:path";
import { runCommand } from "./files.ts";

/** Where Deno keeps the runtime's archive once it has brought it; undefined where there is none. */
export async function runtimeArchive(): Promise<string | undefined> {
  const { stdout } = await runCommand([Deno.execPath(), "info", "--json"], ".");
  const { denoDir } = JSON.parse(stdout) as { denoDir: string };
  const name = `denort-${Deno.build.target}.zip`;
  const file = join(denoDir, "dl", "release", `v${Deno.version.deno}`, name);
  try {
    return (await Deno.stat(file)).isFile ? file : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether the archive is the one that is wanted, and what to say of it. */
export function judgeRuntime(
  sha256: string,
  pinned: string | undefined,
): { readonly ok: boolean; readonly say: string } {
  if (pinned === sha256) return { ok: true, say: `denort has the sha256 that is pinned` };
  if (pinned) return { ok: false, say: `denort's sha256 is ${sha256}, not ${pinned}` };
  return { ok: true, say: `denort is not pinned; to pin this one: DENORT_SHA256=${sha256}` };
}
