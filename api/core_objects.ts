/**
 * The parts of Kubernetes' own objects that we read or write, as they are in
 * JSON: the published types for TypeScript hold times as `Date`, which JSON does
 * not have.
 *
 * @module
 */

import type { Condition, KubeObject } from "../core/object.ts";
import type { LabelSelector } from "./gateway_api.ts";

/** A Secret; values of `data` are base64. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  /** Only written: the API server answers with `data`. */
  stringData?: Record<string, string>;
  immutable?: boolean;
}

/** A ConfigMap. */
export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  /** Base64. */
  binaryData?: Record<string, string>;
}

/** A port of a Service. */
export interface ServicePort {
  name?: string;
  port: number;
  protocol?: "TCP" | "UDP" | "SCTP";
  targetPort?: number | string;
  nodePort?: number;
  appProtocol?: string;
}

/** A Service. */
export interface Service extends KubeObject {
  spec?: {
    type?: "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName";
    /** `None` for a headless one. */
    clusterIP?: string;
    clusterIPs?: string[];
    ipFamilyPolicy?: "SingleStack" | "PreferDualStack" | "RequireDualStack";
    selector?: Record<string, string>;
    ports?: ServicePort[];
    externalName?: string;
    publishNotReadyAddresses?: boolean;
  };
}

/** A ServiceAccount. */
export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean;
}

/** A Namespace. */
export interface Namespace extends KubeObject {
  status?: { phase?: "Active" | "Terminating" };
}

/** A Pod; its spec is only read. */
export interface Pod extends KubeObject {
  spec?: { nodeName?: string; containers: Container[] };
  status?: {
    phase?: "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";
    podIP?: string;
    podIPs?: { ip: string }[];
    startTime?: string;
    conditions?: PodCondition[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
}

/** A condition of a pod: other than those of `metav1`, it may lack a reason. */
export type PodCondition = Pick<Condition, "type" | "status"> & Partial<Condition>;

/** What the kubelet says about a container. */
export interface ContainerStatus {
  name: string;
  ready: boolean;
  restartCount: number;
  state?: {
    waiting?: { reason?: string; message?: string };
    terminated?: { exitCode: number; reason?: string; message?: string };
    running?: { startedAt?: string };
  };
}

/** An environment variable. */
export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: {
    fieldRef?: { apiVersion?: string; fieldPath: string };
    secretKeyRef?: { name: string; key: string; optional?: boolean };
  };
}

/** A check of a container. */
export interface Probe {
  httpGet?: { path?: string; port: number | string };
  tcpSocket?: { port: number | string };
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
  initialDelaySeconds?: number;
}

/** What a container may do. */
export interface ContainerSecurityContext {
  allowPrivilegeEscalation?: boolean;
  capabilities?: { add?: string[]; drop?: string[] };
  privileged?: boolean;
  readOnlyRootFilesystem?: boolean;
  runAsNonRoot?: boolean;
  runAsUser?: number;
  runAsGroup?: number;
  seccompProfile?: { type: "RuntimeDefault" | "Unconfined" };
}

/** A container. */
export interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  ports?: { name?: string; containerPort: number; protocol?: string }[];
  resources?: {
    requests?: Record<string, string | number>;
    limits?: Record<string, string | number>;
  };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean; subPath?: string }[];
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  startupProbe?: Probe;
  securityContext?: ContainerSecurityContext;
}

/** A volume of a pod. */
export interface Volume {
  name: string;
  secret?: {
    secretName: string;
    optional?: boolean;
    defaultMode?: number;
    items?: { key: string; path: string }[];
  };
  emptyDir?: { medium?: string; sizeLimit?: string };
  hostPath?: { path: string; type?: string };
}

/** The spec of the pods that we make. */
export interface PodSpec {
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  initContainers?: Container[];
  containers: Container[];
  volumes?: Volume[];
  securityContext?: {
    runAsNonRoot?: boolean;
    runAsUser?: number;
    runAsGroup?: number;
    fsGroup?: number;
    seccompProfile?: { type: string };
    sysctls?: { name: string; value: string }[];
  };
  imagePullSecrets?: { name: string }[];
  nodeSelector?: Record<string, string>;
  tolerations?: Record<string, unknown>[];
  affinity?: Record<string, unknown>;
  topologySpreadConstraints?: Record<string, unknown>[];
  priorityClassName?: string;
}

/** The labels and annotations of the pods of a StatefulSet. */
export interface TemplateMeta {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/** A StatefulSet. */
export interface StatefulSet extends KubeObject {
  spec: {
    replicas?: number;
    serviceName?: string;
    podManagementPolicy?: "OrderedReady" | "Parallel";
    selector: LabelSelector;
    template: { metadata?: TemplateMeta; spec: PodSpec };
    updateStrategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } };
    revisionHistoryLimit?: number;
  };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
    currentRevision?: string;
    updateRevision?: string;
  };
}

/** What a Role allows. */
export interface PolicyRule {
  apiGroups: string[];
  resources: string[];
  resourceNames?: string[];
  verbs: string[];
}

/** A Role. */
export interface Role extends KubeObject {
  rules: PolicyRule[];
}

/** A RoleBinding. */
export interface RoleBinding extends KubeObject {
  roleRef: { apiGroup: string; kind: string; name: string };
  subjects?: { kind: string; name: string; namespace?: string; apiGroup?: string }[];
}

/** Who a NetworkPolicy admits. */
export interface NetworkPolicyPeer {
  podSelector?: LabelSelector;
  namespaceSelector?: LabelSelector;
  ipBlock?: { cidr: string; except?: string[] };
}

/** A port that a NetworkPolicy admits. */
export interface NetworkPolicyPort {
  port?: number | string;
  endPort?: number;
  protocol?: "TCP" | "UDP" | "SCTP";
}

/** A NetworkPolicy. */
export interface NetworkPolicy extends KubeObject {
  spec: {
    podSelector: LabelSelector;
    policyTypes?: ("Ingress" | "Egress")[];
    ingress?: { from?: NetworkPolicyPeer[]; ports?: NetworkPolicyPort[] }[];
    egress?: { to?: NetworkPolicyPeer[]; ports?: NetworkPolicyPort[] }[];
  };
}

/** An EndpointSlice. */
export interface EndpointSlice extends KubeObject {
  addressType: "IPv4" | "IPv6" | "FQDN";
  endpoints: {
    addresses: string[];
    conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
    targetRef?: { kind?: string; name?: string; namespace?: string };
  }[];
  ports?: { name?: string; port?: number; protocol?: string; appProtocol?: string }[];
}
