/** The real clock. */
import type { Clock } from "../core/clock.ts";

/** The machine's clock and timers. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(fn, ms) {
    // setTimeout counts in 31 bits: a longer wait would fire at once.
    const id = setTimeout(fn, Math.min(Math.max(ms, 0), 2_147_483_647));
    return () => clearTimeout(id);
  },
};
