/**
 * A named part of a kubeconfig, and how its fields are read.
 *
 * @module
 */
import { KubeConfigError } from "./errors.ts";
import { readTextFile } from "./files.ts";

/** A mapping of a kubeconfig, and the folder that its relative paths start from. */
export interface Entry {
  readonly name: string;
  readonly value: Record<string, unknown>;
  readonly folder: string;
  readonly file: string;
}

/** PEM from `<field>-data` (base64) or from the file that `<field>` names. */
export async function pem(entry: Entry, field: string): Promise<string | undefined> {
  const data = text(entry, `${field}-data`);
  const file = text(entry, field);
  if (data === undefined && file === undefined) return undefined;
  const content = data !== undefined
    ? decode(entry, `${field}-data`, data)
    : await readTextFile(resolve(entry, file!), `${field} of "${entry.name}" in ${entry.file}`);
  if (content.includes("-----BEGIN ")) return content;
  throw invalid(entry, `${field} is not PEM (no "-----BEGIN" line)`);
}

function decode(entry: Entry, field: string, data: string): string {
  try {
    return atob(data.replace(/\s+/g, ""));
  } catch (cause) {
    throw invalid(entry, `${field} is not base64`, cause);
  }
}

/** A path of a kubeconfig: relative ones start from its folder. */
export function resolve(entry: Entry, path: string): string {
  return /^(\/|[A-Za-z]:[\\/])/.test(path) ? path : entry.folder + path;
}

/** A text that is not empty. */
export function text(entry: Entry, field: string): string | undefined {
  const value = entry.value[field];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The error for a problem with an entry. */
export function invalid(entry: Entry, problem: string, cause?: unknown): KubeConfigError {
  return new KubeConfigError(`${entry.file}, "${entry.name}": ${problem}`, { cause });
}

/** Is it a mapping? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The list, or an empty one. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
