/**
 * PostRouteModify: one route of an HTTPRoute or GRPCRoute rule.
 *
 * @module
 */
import { echoObject } from "./echo.ts";
import type { Hook } from "./hook.ts";

/** Passes the route through; its work is done in PostTranslateModify. */
export const postRouteModify: Hook = {
  method: "PostRouteModify",
  point: "Route",
  registered: false,
  run: (_snapshot, request) => echoObject(request, [1, 3]),
};
