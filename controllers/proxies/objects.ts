/**
 * The objects around a StatefulSet of proxies: its Service, its permissions, the
 * policy of its port, and each replica's Secrets.
 *
 * @module
 */
import type {
  V1Role,
  V1RoleBinding,
  V1Secret,
  V1Service,
  V1ServiceAccount,
} from "@kubernetes/client-node";
import { encodeBase64 } from "../../core/base64.ts";
import { Annotation, controllerRef } from "../../core/labels.ts";
import type { KubeObject, ObjectMeta, ResourceType } from "../../core/object.ts";
import {
  NETWORK_POLICY,
  ROLE,
  ROLE_BINDING,
  SERVICE,
  SERVICE_ACCOUNT,
} from "../../api/resources.ts";
import { SECRET, STATEFUL_SET } from "../../api/resources.ts";
import { configSecretName, CONNECT_PORT, labelsOf, type ProxySet } from "./proxy_set.ts";
import { replicaIndices, replicaName, selectorOf, serviceName } from "./proxy_set.ts";
import { statefulSet } from "./stateful_set.ts";
import type { TailscaledConfig } from "./tailscaled_config.ts";
import { CONFIG_KEY } from "./tailscaled_config.ts";

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

function serviceAccount(set: ProxySet): KubeObject {
  return {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: meta(set, set.name),
  } satisfies V1ServiceAccount as KubeObject;
}

/** What the proxies may do: touch the Secrets of their own StatefulSet and no other, and tell Events. */
export function proxyRoleRules(secrets: string[]): NonNullable<V1Role["rules"]> {
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

function role(set: ProxySet): KubeObject {
  const secrets = replicaIndices(set).flatMap((index) => [
    replicaName(set.name, index),
    configSecretName(set.name, index),
  ]);
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: meta(set, set.name),
    rules: proxyRoleRules(secrets),
  } satisfies V1Role as KubeObject;
}

function roleBinding(set: ProxySet): KubeObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: meta(set, set.name),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: set.name },
    subjects: [{ kind: "ServiceAccount", name: set.name, namespace: set.namespace }],
  } satisfies V1RoleBinding as KubeObject;
}

function service(set: ProxySet): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: meta(set, serviceName(set.name)),
    spec: {
      type: "ClusterIP",
      selector: selectorOf(set),
      ports: [{ name: "connect", port: CONNECT_PORT, targetPort: "connect", protocol: "TCP" }],
    },
  } satisfies V1Service as KubeObject;
}

/**
 * Whoever reaches the CONNECT port reaches the tailnet, and the pod's own
 * loopback: only Envoys that Envoy Gateway runs are admitted.
 */
function connectPolicy(set: ProxySet): KubeObject {
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
    // client-node's type spells `from` as `_from`, which is not the API's name.
  } as KubeObject;
}

/**
 * A replica's state Secret without a word about its data: what tailscaled and
 * containerboot keep there is theirs.
 */
function stateSecret(set: ProxySet, index: number): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: meta(set, replicaName(set.name, index)),
    type: "Opaque",
  } satisfies V1Secret as KubeObject;
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
): KubeObject {
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
  } satisfies V1Secret as KubeObject;
}
