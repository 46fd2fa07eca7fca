import type { Clock } from "../../core/clock.ts";

/** The machine's clock and timers, when the caller brings no clock. */
export const machineClock: Clock = {
  now: () => Date.now(),
  setTimer(fn, ms) {
    const id = setTimeout(fn, Math.min(Math.max(ms, 0), 2_147_483_647));
    return () => clearTimeout(id);
  },
};

/** A time as Kubernetes writes it: RFC 3339, UTC, whole seconds. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
