/** What an account may do, against what it did, by the API server's audit log. */
import { auditLog } from "../testbed/control_plane.ts";

/** A rule of a role. */
interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** The part of https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ that is read. */
interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Permissions as `verb resource.group`, such as `patch statefulsets.apps`. */
export interface Usage {
  readonly used: ReadonlySet<string>;
  /** Asked for, and refused. */
  readonly denied: ReadonlySet<string>;
}

/** What a service account asked for since the API server's first start. */
export async function usageOf(stateDir: string, username: string): Promise<Usage> {
  const used = new Set<string>(), denied = new Set<string>();
  for (const line of (await Deno.readTextFile(auditLog(stateDir))).split("\n")) {
    // The last line may be half there where the API server was killed.
    if (!line.endsWith("}")) continue;
    const event: AuditEvent = JSON.parse(line);
    const { apiGroup = "", resource, subresource } = event.objectRef ?? {};
    if (event.user.username !== username || resource === undefined) continue;
    const refused = event.annotations?.["authorization.k8s.io/decision"] === "forbid";
    const what = subresource ? `${resource}/${subresource}` : resource;
    (refused ? denied : used).add(permission(event.verb, apiGroup, what));
    // To make an object by a server-side apply, a patch, needs both permissions.
    const created = event.verb === "patch" && event.responseStatus?.code === 201;
    if (created) used.add(permission("create", apiGroup, what));
  }
  return { used, denied };
}

/** What the rules allow. */
export function grantedBy(rules: readonly Rule[]): Set<string> {
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => permission(verb, group, resource)))
      )
    ),
  );
}

function permission(verb: string, group: string, resource: string): string {
  return `${verb} ${resource}${group ? `.${group}` : ""}`;
}
