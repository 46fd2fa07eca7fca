/**
 * Reads Kubernetes manifests from a folder.
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../core/object.ts";
import { CommandError } from "../errors.ts";

/** An object and the file that it stands in. */
export interface Manifest {
  readonly file: string;
  readonly object: KubeObject;
}

/**
 * The objects of all `.yaml`, `.yml` and `.json` files of a folder, in the order
 * of the files' names.
 *
 * @throws {CommandError} when the folder or a file can't be read as manifests.
 */
export async function readManifests(folder: string): Promise<Manifest[]> {
  const files = await manifestFiles(folder);
  if (files.length === 0) throw new CommandError(`${folder} has no .yaml files to load`);
  const manifests: Manifest[] = [];
  for (const name of files) {
    const file = `${folder.replace(/\/$/, "")}/${name}`;
    for (const object of parseManifests(file, await Deno.readTextFile(file))) {
      manifests.push({ file, object });
    }
  }
  return manifests;
}

async function manifestFiles(folder: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    return entries.filter(({ isFile, name }) => isFile && /\.(ya?ml|json)$/.test(name))
      .map(({ name }) => name).sort();
  } catch (cause) {
    const reason = cause instanceof Deno.errors.NotCapable
      ? "the program may read only the folder that it is started in"
      : cause instanceof Error
      ? cause.message
      : String(cause);
    throw new CommandError(`${folder} cannot be read; give a folder with manifests: ${reason}`, {
      cause,
    });
  }
}

function parseManifests(file: string, text: string): KubeObject[] {
  return parseAllDocuments(text).flatMap((document, index) => {
    const [error] = document.errors;
    if (error) throw new CommandError(`${file}: ${error.message}`, { cause: error });
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return []; // an empty document
    if (!isObject(value) && !isList(value)) {
      throw new CommandError(
        `${file}: document ${
          index + 1
        } is no Kubernetes object: it needs apiVersion, kind and metadata.name`,
      );
    }
    return isList(value) ? value.items : [value];
  });
}

/** As `kubectl get -o yaml` writes several objects. */
function isList(value: unknown): value is { items: KubeObject[] } {
  const { kind, items } = (value ?? {}) as { kind?: unknown; items?: unknown };
  return kind === "List" && Array.isArray(items) && items.every(isObject);
}

function isObject(value: unknown): value is KubeObject {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<KubeObject>;
  return typeof apiVersion === "string" && typeof kind === "string" &&
    typeof metadata?.name === "string";
}
