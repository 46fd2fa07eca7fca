/**
 * PostHTTPListenerModify: any listener, TCP and UDP ones included.
 *
 * @module
 */
import { echoObject } from "./echo.ts";
import type { Hook } from "./hook.ts";

/** Passes the listener through. */
export const postHTTPListenerModify: Hook = {
  method: "PostHTTPListenerModify",
  point: "HTTPListener",
  registered: false,
  run: (_snapshot, request) => echoObject(request, [1]),
};
