/**
 * The addresses that Tailscale hands out: 100.64.0.0/10 and fd7a:115c:a1e0::/48.
 *
 * @module
 */

/** The pair of addresses of the `n`-th node, counted from 1. */
export function nodeAddresses(n: number): [string, string] {
  return [`100.64.${(n >> 8) & 0xff}.${n & 0xff}`, `fd7a:115c:a1e0::${n.toString(16)}`];
}

/** The pair of addresses of the `n`-th service, counted from 1. */
export function serviceAddresses(n: number): [string, string] {
  return [
    `100.101.${(n >> 8) & 0xff}.${n & 0xff}`,
    `fd7a:115c:a1e0::6501:${n.toString(16)}`,
  ];
}

/** Whether `text` is an IPv4 address within 100.64.0.0/10. */
export function isTailnetIPv4(text: string): boolean {
  const parts = text.split(".");
  const bytes = parts.map(Number);
  const valid = parts.every((part) => /^\d{1,3}$/.test(part)) && bytes.every((b) => b <= 255);
  const second = bytes[1] ?? 0;
  return parts.length === 4 && valid && bytes[0] === 100 && second >= 64 && second < 128;
}
