/**
 * A set of proxies: one StatefulSet whose pods are machines of a tailnet, with
 * the objects around it. Everything here is names and values; nothing is done.
 *
 * @module
 */
import { boundedName, MAX_LABEL, MAX_STATEFULSET_NAME } from "../../core/names.ts";
import { Label, labelsFor } from "../../core/labels.ts";
import type { KubeObject } from "../../core/object.ts";
import type { Container, PodSpec } from "../../api/core_objects.ts";

/** Pod settings that users may set; each is Kubernetes' own type. */
export interface ProxyPodSettings {
  readonly image: string;
  readonly imagePullPolicy?: Container["imagePullPolicy"] | undefined;
  readonly imagePullSecrets?: PodSpec["imagePullSecrets"] | undefined;
  readonly resources?: Container["resources"] | undefined;
  readonly nodeSelector?: PodSpec["nodeSelector"] | undefined;
  readonly tolerations?: PodSpec["tolerations"] | undefined;
  readonly affinity?: PodSpec["affinity"] | undefined;
  readonly topologySpreadConstraints?: PodSpec["topologySpreadConstraints"] | undefined;
  readonly priorityClassName?: PodSpec["priorityClassName"] | undefined;
  readonly podLabels?: Record<string, string> | undefined;
  readonly podAnnotations?: Record<string, string> | undefined;
}

/** What to run, for whom, and how it appears in the tailnet. */
export interface ProxySet {
  /** The object that the proxies are made for; it owns all of them. */
  readonly owner: KubeObject;
  /** Name of the StatefulSet. */
  readonly name: string;
  readonly namespace: string;
  readonly connectionType: "ingress" | "egress";
  readonly replicas: number;
  /** Name of the TailscaleTailnet. */
  readonly tailnet: string;
  readonly tags: readonly string[];
  readonly loginURL: string;
  readonly hostnamePrefix?: string | undefined;
  readonly acceptRoutes: boolean;
  readonly ephemeral: boolean;
  readonly pod: ProxyPodSettings;
}

/** The port on which egress proxies take HTTP CONNECT. */
export const CONNECT_PORT = 1055;

/** The port of containerboot's health endpoint. */
export const HEALTH_PORT = 9002;

/** A multiple of this many replicas has a volume in the pod template, so that scaling within changes no template. */
export const SLOTS = 8;

/** The name of the StatefulSet of an object: `<object>-egress`, within 52 characters. */
export function statefulSetName(object: string, connectionType: "ingress" | "egress"): string {
  return boundedName(object, `-${connectionType}`, MAX_STATEFULSET_NAME);
}

/** The name of the Service of a StatefulSet. */
export function serviceName(statefulSet: string): string {
  return boundedName(statefulSet, "-svc", MAX_LABEL);
}

/** The name of a replica's pod, and of its state Secret. */
export function replicaName(statefulSet: string, index: number): string {
  return `${statefulSet}-${index}`;
}

/** The name of a replica's config Secret. */
export function configSecretName(statefulSet: string, index: number): string {
  return `${replicaName(statefulSet, index)}-config`;
}

/** The index of the replica that a state or config Secret of the set belongs to. */
export function replicaIndexOf(statefulSet: string, secret: string): number | undefined {
  if (!secret.startsWith(`${statefulSet}-`)) return undefined;
  const match = /^(\d{1,4})(-config)?$/.exec(secret.slice(statefulSet.length + 1));
  return match ? Number(match[1]) : undefined;
}

/** The name that a replica asks for in the tailnet. */
export function hostnameOf(set: ProxySet, index: number): string {
  return set.hostnamePrefix
    ? `${set.hostnamePrefix}-${set.connectionType}-${index}`
    : replicaName(set.name, index);
}

/** How many config volumes the pod template has. */
export function slotsOf(replicas: number): number {
  return Math.max(SLOTS, Math.ceil(replicas / SLOTS) * SLOTS);
}

/** The labels by which the set's pods are selected: never to change. */
export function selectorOf(set: Pick<ProxySet, "name">): Record<string, string> {
  return { [Label.name]: "tailscale-proxy", [Label.instance]: set.name };
}

/** The labels of every object of the set. */
export function labelsOf(set: ProxySet): Record<string, string> {
  return {
    ...selectorOf(set),
    [Label.component]: set.connectionType,
    ...labelsFor(set.owner, set.tailnet),
  };
}

/** The indices of the set's replicas. */
export function replicaIndices(set: Pick<ProxySet, "replicas">): number[] {
  return Array.from({ length: set.replicas }, (_, index) => index);
}
