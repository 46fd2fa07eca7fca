/** Every manifest of `examples/`. */
import { fileURLToPath } from "node:url";
import { type Manifest, readManifests } from "../../cmd/standalone/manifests.ts";
import type { KubeObject } from "../../core/object.ts";

const EXAMPLES = new URL("../../examples/", import.meta.url);

/** The folders, each with its objects in the order in which they are applied. */
export async function exampleFolders(): Promise<ReadonlyMap<string, readonly Manifest[]>> {
  const entries = await Array.fromAsync(Deno.readDir(EXAMPLES));
  const folders = entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
  const read = folders.map(async (name): Promise<[string, Manifest[]]> => [
    name,
    await readManifests(fileURLToPath(new URL(name, EXAMPLES))),
  ]);
  return new Map(await Promise.all(read));
}

/** The objects of all folders; one that several have, such as a Namespace, once. */
export async function exampleObjects(): Promise<KubeObject[]> {
  const objects = new Map<string, KubeObject>();
  for (const manifests of (await exampleFolders()).values()) {
    for (const { object } of manifests) {
      const { kind, metadata: { namespace = "", name } } = object;
      objects.set(`${kind}/${namespace}/${name}`, object);
    }
  }
  return [...objects.values()];
}
