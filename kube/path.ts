/**
 * Where the Kubernetes API serves things.
 *
 * @module
 */
import { apiVersionOf, type ResourceType } from "../core/object.ts";

/**
 * The path of a collection, an object or a subresource. A namespaced kind without
 * a namespace is the collection of all namespaces.
 *
 * @example
 * ```ts
 * import { resourcePath } from "./path.ts";
 * const pods = { group: "", version: "v1", kind: "Pod", plural: "pods", namespaced: true };
 * resourcePath(pods, "apps", "web-0", "status"); // "/api/v1/namespaces/apps/pods/web-0/status"
 * ```
 */
export function resourcePath(
  type: ResourceType,
  namespace?: string,
  name?: string,
  subresource?: string,
): string {
  const parts = [groupPath(type)];
  if (type.namespaced && namespace) parts.push("namespaces", segment(namespace));
  parts.push(type.plural);
  if (name !== undefined) parts.push(segment(name));
  if (subresource !== undefined) parts.push(segment(subresource));
  return parts.join("/");
}

/** The path under which a group and version is served, such as `/apis/apps/v1`. */
export function groupPath(type: Pick<ResourceType, "group" | "version">): string {
  return `${type.group === "" ? "/api" : "/apis"}/${apiVersionOf(type)}`;
}

// A name from an object that nobody validated must not climb out of its place in the path.
function segment(text: string): string {
  if (text === "" || text === "." || text === "..") {
    throw new TypeError(`"${text}" can't be part of a Kubernetes path: give the object's name`);
  }
  return encodeURIComponent(text);
}
