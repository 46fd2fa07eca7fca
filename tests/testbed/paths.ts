/** Where the testbed finds and keeps its files. Nothing is written beside the sources. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of the testbed's sources. */
export const SOURCES: string = fileURLToPath(new URL(".", import.meta.url));

/** The cache: `$TAILSCALE_GATEWAY_CACHE/testbed`, by default under `~/.cache`. */
export function cacheDir(): string {
  const home = Deno.env.get("HOME") ?? "/root";
  const cache = Deno.env.get("TAILSCALE_GATEWAY_CACHE") ??
    join(Deno.env.get("XDG_CACHE_HOME") ?? join(home, ".cache"), "tailscale-gateway");
  return join(cache, "testbed");
}

/** Folder of the built programs. */
export const binDir = (): string => join(cacheDir(), "bin");

/** Full path of a built program. */
export const program = (name: string): string => join(binDir(), name);

/** Gateway API's and Envoy Gateway's CRDs in one file, as `build` gathers them. */
export const gatewayCrds = (): string => join(cacheDir(), "share", "gateway-crds.yaml");
