/**
 * PostClusterModify: the cluster of an HTTPRoute rule with a backend of ours.
 *
 * @module
 */
import { echoObject } from "./echo.ts";
import type { Hook } from "./hook.ts";

/** Passes the cluster through; its work is done in PostTranslateModify. */
export const postClusterModify: Hook = {
  method: "PostClusterModify",
  point: "Cluster",
  registered: false,
  run: (_snapshot, request) => echoObject(request, [1]),
};
