/**
 * Kubeconfigs in a folder of their own.
 *
 * @module
 */
import { stringify } from "yaml";

/** What passes for PEM where nobody reads it. */
export const PEM = "-----BEGIN CERTIFICATE-----\nx\n";

/** A folder with files, some of them kubeconfigs as objects. */
export class Folder implements AsyncDisposable {
  constructor(readonly path: string) {}

  static async with(files: Record<string, unknown>): Promise<Folder> {
    const path = await Deno.makeTempDir();
    for (const [name, content] of Object.entries(files)) {
      const text = typeof content === "string" ? content : stringify(content);
      await Deno.writeTextFile(`${path}/${name}`, text);
    }
    return new Folder(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

/** A kubeconfig of one context. */
export function kubeconfig(user: Record<string, unknown>, cluster: Record<string, unknown> = {}) {
  return {
    "current-context": "dev",
    contexts: [{ name: "dev", context: { cluster: "c", user: "u", namespace: "apps" } }],
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:6443/", ...cluster } }],
    users: [{ name: "u", user }],
  };
}
