/**
 * The objects around a StatefulSet of proxies: its Service, its permissions, the
 * policy of its port, and each replica's Secrets.
 *
 * @module
 */
import { encodeBase64 } from "../../core/base64.ts";
import { Annotation, controllerRef } from "../../core/labels.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../core/object.ts";
import type {
  NetworkPolicy,
  PolicyRule,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
} from "../../api/core_objects.ts";
import {
  NETWORK_POLICY,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  STATEFUL_SET,
} from "../../api/resources.ts";
import {
  configSecretName,
  CONNECT_PORT,
  labelsOf,
  type ProxySet,
  replicaIndices,
  replicaName,
  selectorOf,
  serviceName,
} from "./proxy_set.ts";
import { statefulSet } from "./stateful_set.ts";
import { CONFIG_KEY, type TailscaledConfig } from "./tailscaled_config.ts";

/** An object with the type under which it is applied. */
export interface TypedObject {
  readonly type: ResourceType;
  readonly object: KubeObject;
}

/** The metadata that is written; the rest is the API server's. */
type WrittenMeta = Pick<
  ObjectMeta,
  "name" | "namespace" | "labels" | "annotations" | "ownerReferences"
>;

function meta(set: ProxySet, name: string, annotations?: Record<string, string>): WrittenMeta {
  return {
    name,
    namespace: set.namespace,
    labels: labelsOf(set),
    ownerReferences: [controllerRef(set.owner)],
    ...(annotations ? { annotations } : {}),
  };
}

/**
 * Everything of the set that does not hang on the replicas' state, in the order
 * in which it is to be made: whatever a pod needs is there before the pod.
 */
export function proxySetObjects(set: ProxySet): TypedObject[] {
  return [
    { type: SERVICE_ACCOUNT, object: serviceAccount(set) },
    { type: ROLE, object: role(set) },
    { type: ROLE_BINDING, object: roleBinding(set) },
    ...(set.connectionType === "egress"
      ? [{ type: NETWORK_POLICY, object: connectPolicy(set) }]
      : []),
    { type: SERVICE, object: service(set) },
    ...replicaIndices(set).map((index) => ({ type: SECRET, object: stateSecret(set, index) })),
    { type: STATEFUL_SET, object: statefulSet(set) },
  ];
}

function serviceAccount(set: ProxySet): ServiceAccount {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: meta(set, set.name),
  };
}

/** What the proxies may do: touch the Secrets of their own StatefulSet and no other, and tell Events. */
export function proxyRoleRules(secrets: string[]): PolicyRule[] {
  const events = { apiGroups: [""], resources: ["events"], verbs: ["create", "patch", "get"] };
  // No names would mean every Secret: without replicas there is no rule.
  if (secrets.length === 0) return [events];
  return [{
    apiGroups: [""],
    resources: ["secrets"],
    resourceNames: secrets,
    verbs: ["get", "update", "patch"],
  }, events];
}

function role(set: ProxySet): Role {
  const secrets = replicaIndices(set).flatMap((index) => [
    replicaName(set.name, index),
    configSecretName(set.name, index),
  ]);
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: meta(set, set.name),
    rules: proxyRoleRules(secrets),
  };
}

function roleBinding(set: ProxySet): RoleBinding {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: meta(set, set.name),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: set.name },
    subjects: [{ kind: "ServiceAccount", name: set.name, namespace: set.namespace }],
  };
}

function service(set: ProxySet): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: meta(set, serviceName(set.name)),
    spec: {
      type: "ClusterIP",
      selector: selectorOf(set),
      ports: [{ name: "connect", port: CONNECT_PORT, targetPort: "connect", protocol: "TCP" }],
    },
  };
}

/**
 * Whoever reaches the CONNECT port reaches the tailnet, and the pod's own
 * loopback: only Envoys that Envoy Gateway runs are admitted.
 */
function connectPolicy(set: ProxySet): NetworkPolicy {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: meta(set, set.name),
    spec: {
      podSelector: { matchLabels: selectorOf(set) },
      policyTypes: ["Ingress"],
      ingress: [{
        from: [{
          namespaceSelector: {},
          podSelector: {
            matchLabels: {
              "app.kubernetes.io/managed-by": "envoy-gateway",
              "app.kubernetes.io/component": "proxy",
            },
          },
        }],
        ports: [{ port: CONNECT_PORT, protocol: "TCP" }],
      }],
    },
  };
}

/**
 * A replica's state Secret without a word about its data: what tailscaled and
 * containerboot keep there is theirs.
 */
function stateSecret(set: ProxySet, index: number): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: meta(set, replicaName(set.name, index)),
    type: "Opaque",
  };
}

/** An auth key that waits in a config Secret. */
export interface StoredKey {
  readonly id: string;
  readonly expires: string;
}

/** A replica's config Secret: tailscaled's configuration, with the key to log in with where it has none yet. */
export function configSecret(
  set: ProxySet,
  index: number,
  { config, key }: { config: TailscaledConfig; key?: StoredKey | undefined },
): Secret {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: meta(
      set,
      configSecretName(set.name, index),
      key && { [Annotation.authKeyId]: key.id, [Annotation.authKeyExpires]: key.expires },
    ),
    type: "Opaque",
    data: { [CONFIG_KEY]: encodeBase64(JSON.stringify(config)) },
  };
}
