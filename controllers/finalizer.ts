/**
 * Holding and dropping our finalizer.
 *
 * @module
 */
import { FINALIZER } from "../core/labels.ts";
import type { KubeObject, ResourceType } from "../core/object.ts";
import type { Action } from "./controller.ts";

/** Does the object carry our finalizer? */
export function hasFinalizer(object: KubeObject): boolean {
  return object.metadata.finalizers?.includes(FINALIZER) ?? false;
}

/**
 * Applies, or drops, our finalizer: the object's identity and the finalizer
 * alone, so that nothing else of it becomes ours. The uid keeps an object that
 * has just gone from being made again.
 */
export function finalizerAction(type: ResourceType, object: KubeObject, held: boolean): Action {
  const { name, namespace, uid } = object.metadata;
  return {
    do: "apply",
    type,
    object: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      metadata: {
        name,
        ...(namespace ? { namespace } : {}),
        ...(uid ? { uid } : {}),
        ...(held ? { finalizers: [FINALIZER] } : {}),
      },
    },
  };
}
