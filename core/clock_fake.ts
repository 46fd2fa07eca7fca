/**
 * A clock that moves only when it is told to, for tests and the simulator.
 *
 * @module
 */
import type { Clock } from "./clock.ts";

/** A {@linkcode Clock} whose time is moved by {@linkcode FakeClock.advance}. */
export class FakeClock implements Clock {
  #now: number;
  #next = 0;
  #timers = new Map<number, { at: number; fn: () => void }>();

  constructor(startMs: number = 1_700_000_000_000) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  setTimer(fn: () => void, ms: number): () => void {
    const id = this.#next++;
    this.#timers.set(id, { at: this.#now + Math.max(0, ms), fn });
    return () => this.#timers.delete(id);
  }

  /** How many timers wait. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Moves time by `ms`, firing due timers in order, each at its own time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (let due = this.#earliest(end); due; due = this.#earliest(end)) {
      const [id, timer] = due;
      this.#timers.delete(id);
      this.#now = Math.max(this.#now, timer.at);
      timer.fn();
    }
    this.#now = end;
  }

  #earliest(end: number): [number, { at: number; fn: () => void }] | undefined {
    let best: [number, { at: number; fn: () => void }] | undefined;
    for (const entry of this.#timers) {
      if (entry[1].at <= end && (!best || entry[1].at < best[1].at)) best = entry;
    }
    return best;
  }
}
