/**
 * The operator's permissions, from what its controllers declare; and what Envoy
 * Gateway may read of ours.
 *
 * @module
 */
import type { ResourceType } from "../../core/object.ts";
import { API_GROUP } from "../../api/kind.ts";
import { KINDS } from "../../api/registry.ts";
import { EVENT, LEASE } from "../../api/resources.ts";
import { CONTROLLERS, TYPES_READ } from "../../controllers/registry.ts";
import { proxyRoleRules } from "../../controllers/proxies/objects.ts";
import { DEFAULT_BACKEND_KINDS } from "../../extension/registry.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";

/** The operator's name, of its objects too. */
export const OPERATOR = "tailscale-gateway";
/** The namespace that it is installed in. */
export const OPERATOR_NAMESPACE = "tailscale-gateway-system";

/** A rule as RBAC has it. */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Of a cache. */
const READ = ["list", "watch"];
/**
 * A look at whether the name is taken, then server-side apply: a patch, and where it
 * makes the object, a create too.
 */
const MAKE = ["get", "create", "patch", "delete"];

/** The rules of the operator, one for each resource, in the order of their names. */
export function operatorRules(): PolicyRule[] {
  const verbs = new Map<string, { group: string; verbs: Set<string> }>();
  const allow = (group: string, resource: string, allowed: readonly string[]) => {
    const key = `${group}/${resource}`;
    const entry = verbs.get(key) ?? { group, verbs: new Set() };
    for (const verb of allowed) entry.verbs.add(verb);
    verbs.set(key, entry);
  };
  const allowType = (type: ResourceType, allowed: readonly string[]) =>
    allow(type.group, type.plural, allowed);
  for (const type of TYPES_READ) allowType(type, READ);
  for (const { type, makes, patches = [], onlyStatus } of CONTROLLERS) {
    for (const made of makes) allowType(made, MAKE);
    for (const patched of patches) allowType(patched, ["patch"]);
    if (!KINDS.some(({ resource }) => resource === type)) continue;
    allow(type.group, `${type.plural}/status`, ["patch"]);
    if (onlyStatus) continue;
    allowType(type, ["patch"]); // its finalizer
    // Where owners that block deletion need it (OwnerReferencesPermissionEnforcement).
    allow(type.group, `${type.plural}/finalizers`, ["update"]);
  }
  allowType(EVENT, ["create", "patch"]);
  // Nobody may give what he does not have: the proxies' own permissions.
  for (const rule of proxyRoleRules(["any"])) {
    for (const group of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) allow(group, resource, rule.verbs);
    }
  }
  return [...verbs].sort(([a], [b]) => a < b ? -1 : 1).map(([key, { group, verbs }]) => ({
    apiGroups: [group],
    resources: [key.slice(group.length + 1)],
    verbs: [...verbs],
  }));
}

/** What the operator may do in its own namespace alone. */
export const OWN_NAMESPACE_RULES: readonly PolicyRule[] = [
  // Tokens of its own account, which prove it to tailnets (workload identity federation).
  {
    apiGroups: [""],
    resources: ["serviceaccounts/token"],
    resourceNames: [OPERATOR],
    verbs: ["create"],
  },
  // Its Lease. What is yet to be made can't be permitted by name.
  { apiGroups: [LEASE.group], resources: [LEASE.plural], verbs: ["create"] },
  {
    apiGroups: [LEASE.group],
    resources: [LEASE.plural],
    resourceNames: [OPERATOR],
    verbs: ["get", "patch"],
  },
];

const ENVOY_GATEWAY_READS = [...DEFAULT_BACKEND_KINDS, TailscaleGatewayRevision.kind];

/** Envoy Gateway reads the kinds that its configuration names, and says how its policies fare. */
const ENVOY_GATEWAY_RULES: readonly PolicyRule[] = [
  {
    apiGroups: [API_GROUP],
    resources: KINDS.filter(({ kind }) => ENVOY_GATEWAY_READS.includes(kind))
      .map(({ plural }) => plural),
    verbs: ["get", ...READ],
  },
  {
    apiGroups: [TailscaleGatewayRevision.resource.group],
    resources: [`${TailscaleGatewayRevision.resource.plural}/status`],
    verbs: ["update"],
  },
];

/** ClusterRoles and their bindings. */
export function clusterRoles(): object[] {
  return [
    ...bound(OPERATOR, operatorRules(), { name: OPERATOR, namespace: OPERATOR_NAMESPACE }),
    ...bound(`${OPERATOR}-envoy-gateway`, ENVOY_GATEWAY_RULES, {
      name: "envoy-gateway",
      namespace: "envoy-gateway-system",
    }),
  ];
}

/** The Role of the operator's own namespace and its binding. */
export function ownRole(): object[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const labels = { "app.kubernetes.io/name": OPERATOR };
  const metadata = { name: OPERATOR, namespace: OPERATOR_NAMESPACE, labels };
  const subjects = [{ kind: "ServiceAccount", name: OPERATOR, namespace: OPERATOR_NAMESPACE }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: OPERATOR };
  return [
    { apiVersion, kind: "Role", metadata, rules: OWN_NAMESPACE_RULES },
    { apiVersion, kind: "RoleBinding", metadata, roleRef, subjects },
  ];
}

function bound(
  name: string,
  rules: readonly PolicyRule[],
  account: { name: string; namespace: string },
): object[] {
  const apiVersion = "rbac.authorization.k8s.io/v1";
  const metadata = { name, labels: { "app.kubernetes.io/name": OPERATOR } };
  const subjects = [{ kind: "ServiceAccount", ...account }];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
  return [
    { apiVersion, kind: "ClusterRole", metadata, rules },
    { apiVersion, kind: "ClusterRoleBinding", metadata, roleRef, subjects },
  ];
}
