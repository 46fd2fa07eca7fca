/**
 * The parameters of lists and watches.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import { badRequest, invalid } from "./errors.ts";
import { inFormOf } from "./event_forms.ts";
import type { ResourceRoute } from "./route.ts";
import { fieldSelector, labelSelector, type Predicate } from "./selectors.ts";

/** What to select, from where. */
export interface ListQuery {
  readonly matches: Predicate;
  /** Whether only some of the objects are asked for. */
  readonly selective: boolean;
  /** Undefined when absent; 0 means "any". */
  readonly resourceVersion: number | undefined;
  readonly resourceVersionMatch: string | undefined;
  readonly limit: number;
  readonly continue: string | undefined;
  readonly bookmarks: boolean;
  readonly sendInitialEvents: boolean;
  /** Undefined when absent. */
  readonly timeoutSeconds: number | undefined;
}

/** `?watch=1` and `?watch=true`, as Go reads booleans. */
export function isTrue(value: string | null): boolean {
  return value === "1" || value === "true" || value === "True" || value === "t" || value === "T";
}

/**
 * Reads the query of a list or watch.
 *
 * @throws {ApiError} 400 when a parameter can't be parsed.
 */
export function listQuery(params: URLSearchParams, route: ResourceRoute): ListQuery {
  const labels = params.get("labelSelector") ?? "";
  const byField = params.get("fieldSelector") ?? "";
  const byLabels = labelSelector(labels);
  const byFields = fieldSelector(byField, route.type);
  checkMatch(params);
  const { namespace, name } = route;
  return {
    matches: (object: KubeObject) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (name === undefined || object.metadata.name === name) &&
      byLabels(object) && byFields(inFormOf(route.type, object)),
    selective: labels !== "" || byField !== "",
    resourceVersion: resourceVersion(params.get("resourceVersion")),
    resourceVersionMatch: params.get("resourceVersionMatch") ?? undefined,
    limit: integer(params.get("limit")) ?? 0,
    continue: params.get("continue") || undefined,
    bookmarks: isTrue(params.get("allowWatchBookmarks")),
    sendInitialEvents: isTrue(params.get("sendInitialEvents")),
    timeoutSeconds: integer(params.get("timeoutSeconds")),
  };
}

/** @throws {ApiError} 422 for combinations that have no meaning. */
function checkMatch(params: URLSearchParams): void {
  const match = params.get("resourceVersionMatch") ?? "";
  const refuse = (why: string) =>
    invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", [
      `resourceVersionMatch: Forbidden: ${why}`,
    ]);
  if (isTrue(params.get("sendInitialEvents"))) {
    if (match === "NotOlderThan") return;
    throw refuse("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
  if (match !== "" && !params.get("resourceVersion")) {
    throw refuse("resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
}

function integer(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (!/^\d+$/.test(text)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return Number(text);
}

function resourceVersion(text: string | null): number | undefined {
  if (text === null || text === "") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const value = JSON.stringify(text);
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${value}: not a number`,
  );
}
