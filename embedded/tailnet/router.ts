/**
 * Routes as patterns: `tailnet/:tailnet/keys/:id`.
 *
 * @module
 */
import type { Grant } from "./oauth.ts";
import type { Access } from "./policy.ts";

/** A request that was authorized. */
export interface ApiCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly grant: Grant;
  /** The body as JSON; a 400 when it is not. */
  json(): Promise<unknown>;
}

/** What a handler answers: JSON with status 200. */
export type Handler = (call: ApiCall) => unknown | Promise<unknown>;

export interface Route {
  readonly method: string;
  readonly pattern: string;
  readonly scope: string;
  readonly access: Access;
  readonly handle: Handler;
  /** The status without the scope. @default 403 */
  readonly deniedStatus?: number;
}

/** The decoded elements of a path after `/api/v2/`; undefined when it is elsewhere or malformed. */
export function elementsOf(pathname: string): string[] | undefined {
  if (!pathname.startsWith("/api/v2/")) return undefined;
  try {
    return pathname.slice("/api/v2/".length).split("/").map(decodeURIComponent);
  } catch {
    return undefined; // A broken percent sequence: such a path is nowhere.
  }
}

/** The parameters of a path that fits the pattern. */
export function matchPattern(
  pattern: string,
  elements: readonly string[],
): Record<string, string> | undefined {
  const parts = pattern.split("/");
  if (parts.length !== elements.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const element = elements[i] ?? "";
    if (part.startsWith(":") && element !== "") params[part.slice(1)] = element;
    else if (part !== element) return undefined;
  }
  return params;
}
