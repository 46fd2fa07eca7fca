/** The version of this build. @module */
import denoJson from "../deno.json" with { type: "json" };

/** The version, as released. */
export const VERSION: string = denoJson.version;

/** The image that proxies run where an object names none. */
export const DEFAULT_PROXY_IMAGE = "tailscale/tailscale:v1.98.10";
