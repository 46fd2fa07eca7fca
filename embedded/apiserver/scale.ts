/**
 * The `scale` subresource of StatefulSets and Deployments.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import { badRequest } from "./errors.ts";
import { fields, type JsonMap, mapAt, setMember } from "./json.ts";

/** The object's replicas as an `autoscaling/v1` Scale. */
export function scaleOf(object: KubeObject): JsonMap {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const spec = mapAt(fields(object), "spec");
  const labels = mapAt(mapAt(spec, "selector"), "matchLabels") ?? {};
  const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(",");
  const status = mapAt(fields(object), "status");
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      namespace: namespace ?? "",
      uid: uid ?? "",
      resourceVersion: resourceVersion ?? "",
      creationTimestamp: creationTimestamp ?? null,
    },
    spec: { replicas: spec?.["replicas"] ?? 0 },
    status: { replicas: status?.["replicas"] ?? 0, selector },
  };
}

/**
 * The object with the replicas of a Scale.
 *
 * @throws {ApiError} 400 when the Scale has no number of replicas.
 */
export function scaledTo(object: JsonMap, scale: JsonMap): JsonMap {
  const replicas = mapAt(scale, "spec")?.["replicas"] ?? 0;
  if (typeof replicas !== "number") throw badRequest("spec.replicas must be a number");
  const metadata = { ...mapAt(object, "metadata") };
  const version = mapAt(scale, "metadata")?.["resourceVersion"];
  if (version) setMember(metadata, "resourceVersion", version);
  return { ...object, metadata, spec: { ...mapAt(object, "spec"), replicas } };
}
