/**
 * The `Retry-After` header (RFC 9110 §10.2.3).
 *
 * @module
 */

const DAY_MS = 86_400_000;
const IMF_OR_RFC850 = /^[A-Z][a-z]+, .* GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;

/**
 * How long to wait, in milliseconds, from either form of the header: seconds or
 * an HTTP date. A date in the past is 0; what is neither form is undefined. At
 * most a day, so that a wild value cannot silence a tailnet for good.
 *
 * @example
 * ```ts
 * import { parseRetryAfter } from "./retry_after.ts";
 * parseRetryAfter("37", 0); // 37_000
 * parseRetryAfter("Thu, 01 Jan 1970 00:00:05 GMT", 1_000); // 4_000
 * ```
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), DAY_MS);
  // asctime has no zone and means UTC, but Date.parse would take it as local time.
  const date = IMF_OR_RFC850.test(text)
    ? Date.parse(text)
    : ASCTIME.test(text)
    ? Date.parse(`${text} GMT`)
    : NaN;
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), DAY_MS);
}
