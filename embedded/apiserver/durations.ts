/**
 * Ages as `kubectl get` shows them.
 *
 * @module
 */
import type { Json } from "./json.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** How long ago a time was, such as `90s`, `5m30s` or `2d4h`. */
export function ageText(time: Json | undefined, now: number): string {
  const at = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(at) ? "<unknown>" : durationText(Math.max(0, Math.floor((now - at) / 1000)));
}

/** As Kubernetes rounds: two units while the first is small, then one. */
function durationText(seconds: number): string {
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return two(seconds, [MINUTE, "m"], [1, "s"]);
  if (seconds < 3 * HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return two(seconds, [HOUR, "h"], [MINUTE, "m"]);
  if (seconds < 2 * DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return two(seconds, [DAY, "d"], [HOUR, "h"]);
  if (seconds < 2 * YEAR) return `${Math.floor(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return two(seconds, [YEAR, "y"], [DAY, "d"]);
  return `${Math.floor(seconds / YEAR)}y`;
}

type Unit = readonly [seconds: number, name: string];

function two(seconds: number, [first, name]: Unit, [second, smaller]: Unit): string {
  const rest = Math.floor((seconds % first) / second);
  return `${Math.floor(seconds / first)}${name}${rest === 0 ? "" : `${rest}${smaller}`}`;
}
