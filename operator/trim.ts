/**
 * What of an object the cache keeps: memory goes to what is read.
 *
 * @module
 */
import type { KubeObject, ResourceType } from "../core/object.ts";
import * as resources from "../api/resources.ts";
import { FIELD_MANAGER_PREFIX } from "../controllers/controller.ts";

/** Removes from an object what no controller reads. */
export function trimmer(type: ResourceType): (object: KubeObject) => KubeObject {
  return type === resources.POD ? (object) => trimPod(trimMeta(object)) : trimMeta;
}

/** Of the field managers only our own say something to us. */
function trimMeta(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata;
  const ours = managedFields?.filter(({ manager }) => manager?.startsWith(FIELD_MANAGER_PREFIX));
  return {
    ...object,
    metadata: ours?.length ? { ...metadata, managedFields: ours } : metadata,
  };
}

function trimPod(pod: KubeObject & { spec?: unknown }): KubeObject {
  const { spec: _spec, ...rest } = pod;
  return rest;
}
