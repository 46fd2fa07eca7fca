/**
 * The OAuth scopes that the operator needs, the least that work.
 *
 * @module
 */

/** Scopes as Tailscale names them; each with write. */
export const NEEDED_SCOPES = ["devices:core", "auth_keys", "services"] as const;

export type Scope = typeof NEEDED_SCOPES[number];

/**
 * What a token's own list of scopes says about one scope: `unknown` when it names
 * nothing that decides it, since older clients carry scopes of other names.
 */
export type Grant = "write" | "read" | "none" | "unknown";

/** Looks `scope` up in the scopes of a token. */
export function grantOf(scope: Scope, granted: readonly string[] | undefined): Grant {
  if (!granted) return "unknown";
  const family = scope.split(":")[0];
  const covers = [scope, family, "all"];
  if (covers.some((name) => granted.includes(name ?? ""))) return "write";
  if (covers.some((name) => granted.includes(`${name}:read`))) return "read";
  return "none";
}
