/**
 * Acting as somebody else (`as` of a kubeconfig's user).
 *
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 *
 * @module
 */

/**
 * The headers that ask for it.
 *
 * @throws {TypeError} that says what can't be asked for.
 */
export function impersonationHeaders(user: Readonly<Record<string, unknown>>) {
  const headers: Record<string, string> = {};
  const { as, "as-uid": uid, "as-groups": groups, "as-user-extra": extra } = user;
  if (isText(as)) headers["impersonate-user"] = as;
  if (isText(uid)) headers["impersonate-uid"] = uid;
  if (Array.isArray(groups) && groups.length > 0) {
    headers["impersonate-group"] = onlyOne("as-groups", groups);
  }
  for (const [key, values] of Object.entries(extra ?? {})) {
    const name = `impersonate-extra-${encodeURIComponent(key)}`;
    headers[name] = onlyOne(`as-user-extra.${key}`, Array.isArray(values) ? values : [values]);
  }
  if (Object.keys(headers).length > 0 && !isText(as)) {
    throw new TypeError("as-uid, as-groups and as-user-extra need as");
  }
  return headers;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Deno joins headers of one name by commas, which would be one group of an odd name. */
function onlyOne(field: string, values: readonly unknown[]): string {
  const [first, ...more] = values;
  if (isText(first) && more.length === 0) return first;
  throw new TypeError(`${field} has ${values.length} values; exactly one is supported`);
}
