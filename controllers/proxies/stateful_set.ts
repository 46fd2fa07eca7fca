/**
 * The StatefulSet of a set of userspace proxies, and its pod: containerboot and
 * tailscaled under PodSecurity `restricted`.
 *
 * @module
 */
import { controllerRef } from "../../core/labels.ts";
import type { Container, EnvVar, PodSpec, StatefulSet } from "../../api/core_objects.ts";
import {
  configSecretName,
  CONNECT_PORT,
  HEALTH_PORT,
  labelsOf,
  type ProxySet,
  replicaName,
  selectorOf,
  serviceName,
  slotsOf,
} from "./proxy_set.ts";

/** Distroless images' nobody, and a number that PodSecurity can see is not root. */
const UID = 65532;
const CONFIG_DIR = "/etc/tsconfig";

/** The StatefulSet that runs the set's proxies. */
export function statefulSet(set: ProxySet): StatefulSet {
  const labels = labelsOf(set);
  return {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      name: set.name,
      namespace: set.namespace,
      labels,
      ownerReferences: [controllerRef(set.owner)],
    },
    spec: {
      replicas: set.replicas,
      serviceName: serviceName(set.name),
      podManagementPolicy: "Parallel",
      selector: { matchLabels: selectorOf(set) },
      template: {
        metadata: {
          // The operator's own labels win: its selectors stand on them.
          labels: { ...set.pod.podLabels, ...labels },
          ...(set.pod.podAnnotations ? { annotations: { ...set.pod.podAnnotations } } : {}),
        },
        spec: podSpec(set),
      },
    },
  };
}

function podSpec(set: ProxySet): PodSpec {
  const { pod } = set;
  return {
    serviceAccountName: set.name,
    terminationGracePeriodSeconds: 60,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: UID,
      runAsGroup: UID,
      fsGroup: UID,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [container(set)],
    volumes: [
      { name: "tailscaled-state", emptyDir: {} },
      ...slots(set).map((slot) => ({
        name: slot.volume,
        // Optional: a replica that is not wanted has no config Secret.
        secret: { secretName: slot.secret, optional: true },
      })),
    ],
    ...withoutAbsent({
      imagePullSecrets: pod.imagePullSecrets,
      nodeSelector: pod.nodeSelector,
      tolerations: pod.tolerations,
      affinity: pod.affinity,
      topologySpreadConstraints: pod.topologySpreadConstraints,
      priorityClassName: pod.priorityClassName,
    }),
  };
}

function container(set: ProxySet): Container {
  return {
    name: "tailscale",
    image: set.pod.image,
    env: [...downwardEnv(), ...settingsEnv(set)],
    ports: [
      ...(set.connectionType === "egress"
        ? [{ name: "connect", containerPort: CONNECT_PORT, protocol: "TCP" }]
        : []),
      { name: "health", containerPort: HEALTH_PORT, protocol: "TCP" },
    ],
    readinessProbe: { httpGet: { path: "/healthz", port: HEALTH_PORT }, periodSeconds: 5 },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [
      { name: "tailscaled-state", mountPath: "/tmp" },
      ...slots(set).map((slot) => ({ name: slot.volume, mountPath: slot.path, readOnly: true })),
    ],
    ...withoutAbsent({ imagePullPolicy: set.pod.imagePullPolicy, resources: set.pod.resources }),
  };
}

/** The fields that have a value: an `undefined` one is not the same as none. */
function withoutAbsent<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}

interface Slot {
  readonly volume: string;
  readonly secret: string;
  readonly path: string;
}

/**
 * A config volume for every replica that the template has room for: each pod
 * mounts all of them and reads its own, so that scaling restarts nothing.
 */
function slots(set: ProxySet): Slot[] {
  return Array.from({ length: slotsOf(set.replicas) }, (_, index) => ({
    volume: `tailscaledconfig-${index}`,
    secret: configSecretName(set.name, index),
    path: `${CONFIG_DIR}/${replicaName(set.name, index)}`,
  }));
}

/** The pod's own facts; they stand first, since the settings refer to them. */
function downwardEnv(): EnvVar[] {
  const field = (name: string, fieldPath: string) => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    field("POD_NAME", "metadata.name"),
    field("POD_UID", "metadata.uid"),
    field("POD_IP", "status.podIP"),
    field("POD_IPS", "status.podIPs"),
  ];
}

/** containerboot's settings. Beside a config folder it refuses TS_AUTHKEY, TS_HOSTNAME and the like. */
function settingsEnv(set: ProxySet): EnvVar[] {
  return [
    { name: "TS_USERSPACE", value: "true" },
    { name: "TS_KUBE_SECRET", value: "$(POD_NAME)" },
    { name: "TS_STATE", value: "kube:$(POD_NAME)" },
    { name: "TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR", value: `${CONFIG_DIR}/$(POD_NAME)` },
    { name: "TS_ENABLE_HEALTH_CHECK", value: "true" },
    { name: "TS_EXPERIMENTAL_SERVICE_AUTO_ADVERTISEMENT", value: "false" },
    // Without an address: containerboot would not put brackets around an IPv6 one.
    ...(set.connectionType === "egress"
      ? [{ name: "TS_OUTBOUND_HTTP_PROXY_LISTEN", value: `:${CONNECT_PORT}` }]
      : []),
  ];
}
