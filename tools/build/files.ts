/**
 * Commands and files of the build.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** What a command printed, and whether it succeeded. */
export interface CommandResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, whatever that is. */
export async function runCommand(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const [program = "", ...args] = command;
  const decoder = new TextDecoder();
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd,
    env: { ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  return { ok: success, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** The SHA-256 of a file, in hexadecimal digits. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk);
  return hash.digest("hex");
}

/** Removes a file or a folder; that it is not there is no failure. */
export async function remove(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
