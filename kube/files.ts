/**
 * Files of a configuration, with errors that say what to do.
 *
 * @module
 */
import { KubeConfigError } from "./errors.ts";

/** A file's text. @throws {KubeConfigError} that ends with `hint` when it can't be read */
export async function readTextFile(path: string, hint: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (cause) {
    const advice = cause instanceof Deno.errors.NotCapable
      ? "start the program in its folder, or run it by Deno with --allow-read for it"
      : hint;
    throw new KubeConfigError(`${path} can't be read (${problem(cause)}): ${advice}`, { cause });
  }
}

/**
 * A token that lies in a file and is rotated there: read for each use, which costs
 * microseconds, so that a rotated one counts at once. While the file is being replaced
 * the token before it serves.
 */
export function tokenFromFile(path: string, hint: string): () => Promise<string> {
  let last: string | undefined;
  return async () => {
    try {
      const text = (await readTextFile(path, hint)).trim();
      if (text === "") throw new KubeConfigError(`${path} is empty: ${hint}`);
      return last = text;
    } catch (error) {
      if (last !== undefined) return last;
      throw error;
    }
  };
}

function problem(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "not there";
  if (error instanceof Deno.errors.NotCapable) {
    return "the program may read only the folder that it is started in";
  }
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  return error instanceof Error ? error.message : String(error);
}
