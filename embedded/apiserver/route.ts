/**
 * What a URL asks for.
 *
 * @module
 */
import { NoSuchPath, noSuchResource } from "./errors.ts";
import { givesTokens, hasStatus, isScalable, type ServedType, type TypeRegistry } from "./types.ts";

/** The objects, object or subresource that a URL names. */
export interface ResourceRoute {
  readonly at: "resource";
  readonly type: ServedType;
  /** The version in the URL; answers are in it. */
  readonly version: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: "status" | "scale" | "token";
}

/** Every kind of request that the server answers. */
export type Route =
  | ResourceRoute
  | { readonly at: "version" | "health" | "coreVersions" | "groups" }
  | { readonly at: "group"; readonly group: string }
  | { readonly at: "resources"; readonly group: string; readonly version: string };

const FIXED: Readonly<Record<string, Route>> = {
  version: { at: "version" },
  healthz: { at: "health" },
  livez: { at: "health" },
  readyz: { at: "health" },
  api: { at: "coreVersions" },
  apis: { at: "groups" },
};

/**
 * Reads the path of a URL.
 *
 * @throws {ApiError} 404 when nothing is served there.
 */
export function routeOf(pathname: string, types: TypeRegistry): Route {
  const [first = "", ...rest] = pathname.split("/").filter((part) => part !== "").map(decoded);
  const fixed = FIXED[first];
  if (fixed && (rest.length === 0 || fixed.at === "health")) return fixed;
  if (first === "api") return inVersion("", rest, types);
  const [group, ...below] = rest;
  if (first !== "apis" || group === undefined) throw new NoSuchPath();
  return below.length === 0 ? { at: "group", group } : inVersion(group, below, types);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new NoSuchPath();
  }
}

function inVersion(group: string, parts: string[], types: TypeRegistry): Route {
  const [version = "", ...rest] = parts;
  if (!types.serves(group, version)) throw new NoSuchPath();
  if (rest.length === 0) return { at: "resources", group, version };
  const [plural, namespace, ...below] = rest;
  // `namespaces/<name>/status` is a part of the namespace, not a kind within it.
  const inNamespace = plural === "namespaces" && below.length > 0 &&
    !(group === "" && below.length === 1 && (below[0] === "status" || below[0] === "finalize"));
  const path = inNamespace ? below : rest;
  const type = types.byPath(group, version, path[0] ?? "");
  if (!type || path.length > 3 || inNamespace !== (type.namespaced && inNamespace)) {
    throw types.isCustom(group) ? new NoSuchPath() : noSuchResource();
  }
  return resource({ type, version, path, namespace: inNamespace ? namespace : undefined });
}

interface ResourcePath {
  readonly type: ServedType;
  readonly version: string;
  readonly path: readonly string[];
  readonly namespace: string | undefined;
}

function resource({ type, version, path, namespace }: ResourcePath): ResourceRoute {
  const [, name, subresource] = path;
  if (name !== undefined && type.namespaced && namespace === undefined) throw noSuchResource();
  const base: ResourceRoute = {
    at: "resource",
    type,
    version,
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
  if (subresource === undefined) return base;
  if (subresource === "status" && hasStatus(type)) return { ...base, subresource };
  if (subresource === "scale" && isScalable(type)) return { ...base, subresource };
  if (subresource === "token" && givesTokens(type)) return { ...base, subresource };
  throw noSuchResource();
}
