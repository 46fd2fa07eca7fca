/**
 * A clock for tests of the whole: it runs like the machine's, and can be moved on.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";

interface Timer {
  at: number;
  readonly fn: () => void;
  id: ReturnType<typeof setTimeout> | undefined;
}

/** The machine's time, and whatever was skipped of it. */
export class SkippingClock implements Clock {
  readonly #timers = new Set<Timer>();
  #skipped = 0;

  now(): number {
    return Date.now() + this.#skipped;
  }

  setTimer(fn: () => void, ms: number): () => void {
    const timer: Timer = { at: this.now() + Math.max(0, ms), fn, id: undefined };
    this.#timers.add(timer);
    this.#arm(timer);
    return () => {
      clearTimeout(timer.id);
      this.#timers.delete(timer);
    };
  }

  /** Moves on by `ms`: what became due meanwhile fires soon, the earliest first. */
  skip(ms: number): void {
    this.#skipped += ms;
    const timers = [...this.#timers].sort((a, b) => a.at - b.at);
    for (const timer of timers) clearTimeout(timer.id);
    for (const timer of timers) this.#arm(timer);
  }

  /** Somebody sets the clock ahead or back, which no timer notices. */
  set(byMs: number): void {
    this.#skipped += byMs;
    for (const timer of this.#timers) timer.at += byMs;
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.size;
  }

  #arm(timer: Timer): void {
    const wait = Math.min(Math.max(0, timer.at - this.now()), 2_147_483_647);
    timer.id = setTimeout(() => {
      this.#timers.delete(timer);
      timer.fn();
    }, wait);
  }
}
