/**
 * The configuration file of a proxy's tailscaled (`ipn.ConfigVAlpha`).
 *
 * @module
 */
import { shortHash } from "../../core/hash.ts";
import { hostnameOf, type ProxySet } from "./proxy_set.ts";

/**
 * The one version of the file that is written. containerboot takes the highest
 * that it knows, and later ones have fields that older ones refuse.
 */
export const CONFIG_KEY = "cap-106.hujson";

/** The fields that the operator sets; their spelling is tailscaled's. */
export interface TailscaledConfig {
  readonly Version: "alpha0";
  readonly Locked: false;
  readonly ServerURL: string;
  readonly AuthKey?: string;
  readonly Hostname: string;
  readonly acceptDNS: false;
  readonly acceptRoutes: boolean;
  /** Absent for egress; an absent list clears what was advertised. */
  readonly AdvertiseServices?: readonly string[];
}

/** The configuration of a replica, with the key to log in with where one is given. */
export function tailscaledConfig(set: ProxySet, index: number, authKey?: string): TailscaledConfig {
  return {
    Version: "alpha0",
    Locked: false,
    ServerURL: set.loginURL,
    ...(authKey ? { AuthKey: authKey } : {}),
    Hostname: hostnameOf(set, index),
    acceptDNS: false,
    acceptRoutes: set.acceptRoutes,
    ...(set.connectionType === "ingress" ? { AdvertiseServices: [] } : {}),
  };
}

/** The auth key that a config file holds; undefined where it holds none or is no JSON. */
export function authKeyIn(file: string | undefined): string | undefined {
  if (!file) return undefined;
  try {
    const key = (JSON.parse(file) as Partial<TailscaledConfig> | null)?.AuthKey;
    return typeof key === "string" && key !== "" ? key : undefined;
  } catch {
    return undefined; // somebody's edit: it is written anew, with a new key
  }
}

/** What a running proxy has to take note of: everything but the key. */
export function configHash(config: TailscaledConfig): string {
  const { AuthKey: _key, ...rest } = config;
  return shortHash(rest);
}
