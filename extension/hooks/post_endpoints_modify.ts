/**
 * PostEndpointsModify: the endpoints of any EDS cluster.
 *
 * @module
 */
import { echoObject } from "./echo.ts";
import type { Hook } from "./hook.ts";

/** Passes the endpoints through; those of our clusters are inline in the cluster. */
export const postEndpointsModify: Hook = {
  method: "PostEndpointsModify",
  point: "Endpoints",
  registered: false,
  run: (_snapshot, request) => echoObject(request, []),
};
