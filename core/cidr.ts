/**
 * Addresses and ranges.
 *
 * @module
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** The ranges that Tailscale gives its nodes and services addresses from. */
export const TAILNET_RANGES: readonly string[] = ["100.64.0.0/10", "fd7a:115c:a1e0::/48"];

/** Is this text an IPv4 or IPv6 address? */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0;
}

/** Is the address in one of the ranges? A text that is no address is in none. */
export function inRanges(address: string, ranges: readonly string[]): boolean {
  if (!isAddress(address)) return false;
  const ip = ipaddr.parse(address);
  return ranges.some((range) => {
    const [net, bits] = ipaddr.parseCIDR(range);
    return ip.kind() === net.kind() && ip.match(net, bits);
  });
}

/** Is the address one of the tailnet's own? */
export function isTailnetAddress(address: string): boolean {
  return inRanges(address, TAILNET_RANGES);
}
