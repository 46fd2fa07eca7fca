/**
 * PostVirtualHostModify: a virtual host of an HTTP listener.
 *
 * @module
 */
import { echoObject } from "./echo.ts";
import type { Hook } from "./hook.ts";

/** Passes the virtual host through; its work is done in PostTranslateModify. */
export const postVirtualHostModify: Hook = {
  method: "PostVirtualHostModify",
  point: "VirtualHost",
  registered: false,
  run: (_snapshot, request) => echoObject(request, []),
};
