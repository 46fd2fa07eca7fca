/**
 * What is served: `/version`, `/api`, `/apis` and below.
 *
 * @module
 */
import { apiVersionOf } from "../../core/object.ts";
import { NoSuchPath } from "./errors.ts";
import type { JsonMap } from "./json.ts";
import type { Route } from "./route.ts";
import { hasStatus, isScalable, type ServedType, type TypeRegistry, versionsOf } from "./types.ts";

const VERSION: JsonMap = {
  major: "1",
  minor: "36",
  gitVersion: "v1.36.0+embedded",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "",
};

/**
 * Answers a request for what is served.
 *
 * @throws {ApiError} 404 for a group or version that is not.
 */
export function discover(route: Exclude<Route, { at: "resource" }>, types: TypeRegistry): JsonMap {
  switch (route.at) {
    case "version":
      return VERSION;
    case "coreVersions":
      return { kind: "APIVersions", versions: ["v1"] };
    case "groups":
      return {
        kind: "APIGroupList",
        apiVersion: "v1",
        groups: groupNames(types).map(groupIn(types)),
      };
    case "group":
      if (!groupNames(types).includes(route.group)) throw new NoSuchPath();
      return { kind: "APIGroup", apiVersion: "v1", ...groupIn(types)(route.group) };
    case "resources":
      return resourceList(route, types);
    case "health":
      throw new NoSuchPath(); // answered as text
  }
}

function groupNames(types: TypeRegistry): string[] {
  return [...new Set(types.all.map((type) => type.group))].filter((group) => group !== "");
}

function groupIn(types: TypeRegistry): (group: string) => JsonMap {
  return (group) => {
    const versions = new Set(types.all.filter((t) => t.group === group).flatMap(versionsOf));
    const entries = [...versions].map((version) => ({
      groupVersion: apiVersionOf({ group, version }),
      version,
    }));
    return { name: group, versions: entries, preferredVersion: entries[0] ?? {} };
  };
}

function resourceList(
  { group, version }: { group: string; version: string },
  types: TypeRegistry,
): JsonMap {
  const served = types.all.filter((t) => t.group === group && versionsOf(t).includes(version));
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf({ group, version }),
    resources: served.flatMap(resourcesOf),
  };
}

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function resourcesOf(type: ServedType): JsonMap[] {
  const { kind, namespaced, plural } = type;
  const main: JsonMap = {
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs: VERBS,
    ...(type.shortNames ? { shortNames: [...type.shortNames] } : {}),
    ...(type.categories ? { categories: [...type.categories] } : {}),
  };
  if (!hasStatus(type)) return [main];
  const part = { singularName: "", namespaced, kind, verbs: ["get", "patch", "update"] };
  const status = { ...part, name: `${plural}/status` };
  if (!isScalable(type)) return [main, status];
  const scale = { group: "autoscaling", version: "v1", kind: "Scale" };
  return [main, { ...part, ...scale, name: `${plural}/scale` }, status];
}
