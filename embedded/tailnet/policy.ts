/**
 * The parts of a tailnet's policy that decide what an OAuth client may do.
 *
 * @module
 */

/** Scopes as Tailscale names them, such as `devices:core` or `devices:core:read`. */
export type Access = "read" | "write";

/** Whether scopes allow something. Wider ones cover narrower ones. */
export function scopeAllows(scopes: readonly string[], scope: string, access: Access): boolean {
  const names = [scope, scope.split(":")[0], "all"];
  return names.some((name) =>
    scopes.includes(`${name}`) || (access === "read" && scopes.includes(`${name}:read`))
  );
}

const TAG = /^tag:[A-Za-z][A-Za-z0-9-]*$/;

/** Who may give which tags, as in the policy's `tagOwners`; absent: nothing is checked but the form. */
export type TagOwners = Readonly<Record<string, readonly string[]>> | undefined;

/**
 * Whether an OAuth client with `own` tags may give `requested` ones: exactly its
 * own, or only such as one of its own owns.
 */
export function mayGiveTags(
  requested: readonly string[],
  own: readonly string[],
  owners: TagOwners,
): boolean {
  if (!requested.every((tag) => TAG.test(tag))) return false;
  if (!owners) return true;
  if (!requested.every((tag) => Object.hasOwn(owners, tag))) return false;
  const whole = own.length === requested.length && own.every((tag) => requested.includes(tag));
  return whole || requested.every((tag) => owners[tag]?.some((owner) => own.includes(owner)));
}

/** Who approves service hosts: service name or service tag → tags of the hosts. */
export type ServiceApprovers = Readonly<Record<string, readonly string[]>>;

/** Whether a host is approved without anybody's doing. */
export function isAutoApproved(
  service: { readonly name: string; readonly tags: readonly string[] },
  hostTags: readonly string[],
  approvers: ServiceApprovers,
): boolean {
  const approved = [service.name, ...service.tags].flatMap((key) => approvers[key] ?? []);
  return hostTags.some((tag) => approved.includes(tag));
}
