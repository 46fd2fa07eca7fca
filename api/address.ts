/**
 * Hosts that a proxy or Envoy may be sent to: never the sender itself, its link
 * or a group of hosts.
 *
 * @module
 */

import ipaddr from "ipaddr.js";

/** True for an IP address as Kubernetes' CEL library takes it: no zone, no IPv4-mapped IPv6. */
export function isIP(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return true;
  if (text.includes("%") || !ipaddr.IPv6.isValid(text)) return false;
  return !ipaddr.IPv6.parse(text).isIPv4MappedAddress();
}

/** True for a range of IP addresses as Kubernetes' CEL library takes it: `<address>/<bits>`. */
export function isCIDR(text: string): boolean {
  const [, address = "", bits = ""] = /^([^/]*)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
  if (!isIP(address)) return false;
  return Number(bits) <= (ipaddr.parse(address).kind() === "ipv4" ? 32 : 128);
}

const NOT_DIALABLE = new Set(["unspecified", "loopback", "linkLocal", "multicast"]);

/** True for an IP address of one host other than the dialling one. */
export function isDialableIP(text: string): boolean {
  return isIP(text) && !NOT_DIALABLE.has(ipaddr.parse(text).range());
}

/** {@linkcode isDialableIP} in CEL, for an expression that is an IP address. */
export function celDialableIP(expression: string): string {
  const address = `ip(${expression})`;
  return [
    `!${address}.isLoopback()`,
    `!${address}.isUnspecified()`,
    `!${address}.isLinkLocalUnicast()`,
    `!cidr('224.0.0.0/4').containsIP(${address})`,
    `!cidr('ff00::/8').containsIP(${address})`,
  ].join(" && ");
}

/** A host and port that Envoy reaches itself. */
export interface ExternalTarget {
  /** A DNS name, or an IP address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `host:port` or `[IPv6]:port`. */
export const EXTERNAL_TARGET =
  "^(\\[[0-9a-fA-F:.]+\\]|[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*):[1-9][0-9]{0,4}$";

/** Names of the dialling host itself. */
export const LOCAL_NAMES = "^(.*\\.)?localhost(\\.localdomain)?$";

/** Forms that resolvers take for an IPv4 address though they are none, such as `127.1`. */
export const NUMERIC_NAME = "(^|\\.)(0x[0-9a-f]*|[0-9]+)$";

/**
 * The parts of an `externalTarget`, or undefined when it is not of the form
 * `host:port`.
 *
 * @example
 * ```ts
 * import { parseExternalTarget } from "./address.ts";
 * parseExternalTarget("[fd00::1]:8080"); // { host: "fd00::1", port: 8080 }
 * ```
 */
export function parseExternalTarget(target: string): ExternalTarget | undefined {
  if (!new RegExp(EXTERNAL_TARGET).test(target)) return undefined;
  const colon = target.lastIndexOf(":");
  const host = target.slice(0, colon).replace("[", "").replace("]", "");
  if (target.startsWith("[") && !isIP(host)) return undefined;
  return { host, port: Number(target.slice(colon + 1)) };
}

/** True when the host of an {@linkcode ExternalTarget} cannot be the dialling one. */
export function isDialableHost(host: string): boolean {
  if (isIP(host)) return isDialableIP(host);
  return !new RegExp(LOCAL_NAMES).test(host) && !new RegExp(NUMERIC_NAME).test(host);
}
