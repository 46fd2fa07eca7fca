/**
 * The labels, annotations and the finalizer that the operator puts on objects.
 *
 * @module
 */
import { labelValue } from "./names.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "./object.ts";

/** The API group of our kinds, and the prefix of labels and annotations. */
export const GROUP = "gateway.tailscale.com";
/** `app.kubernetes.io/managed-by` of everything that the operator makes. */
export const MANAGED_BY = "tailscale-gateway";
/** Our finalizer. */
export const FINALIZER = `${GROUP}/finalizer`;

/** What we call ourselves in the statuses of policies and routes. */
export const CONTROLLER_NAME = `${GROUP}/controller`;

/** Names of labels. */
export const Label = {
  managedBy: "app.kubernetes.io/managed-by",
  name: "app.kubernetes.io/name",
  instance: "app.kubernetes.io/instance",
  component: "app.kubernetes.io/component",
  tailnet: `${GROUP}/tailnet`,
  parentKind: `${GROUP}/parent-kind`,
  parentNamespace: `${GROUP}/parent-namespace`,
  parentName: `${GROUP}/parent-name`,
} as const;

/** Names of annotations. */
export const Annotation = {
  /** On a proxy's pod: the hash of its tailscaled configuration. */
  configHash: `${GROUP}/config-hash`,
  /** On a config Secret: id and expiry of the auth key in it. */
  authKeyId: `${GROUP}/auth-key-id`,
  authKeyExpires: `${GROUP}/auth-key-expires`,
} as const;

/** The labels of an object that the operator makes for `parent`. */
export function labelsFor(parent: KubeObject, tailnet?: string): Record<string, string> {
  const { namespace, name } = parent.metadata;
  return {
    [Label.managedBy]: MANAGED_BY,
    [Label.parentKind]: parent.kind,
    ...(namespace ? { [Label.parentNamespace]: labelValue(namespace) } : {}),
    [Label.parentName]: labelValue(name),
    ...(tailnet ? { [Label.tailnet]: labelValue(tailnet) } : {}),
  };
}

/** The owner reference that makes `owner` the controller of an object. */
export function controllerRef(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** Is the object controlled by that owner? */
export function isControlledBy(meta: ObjectMeta, owner: KubeObject): boolean {
  return meta.ownerReferences?.some((ref) => ref.controller && ref.uid === owner.metadata.uid) ??
    false;
}
