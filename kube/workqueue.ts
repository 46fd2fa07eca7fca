/**
 * What to reconcile next: keys, never events.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { type BackoffLimits, backoffMs } from "./backoff.ts";
import { Heap } from "./heap.ts";

/** Settings of {@linkcode WorkQueue}. */
export interface WorkQueueOptions {
  clock: Clock;
  /** Of {@linkcode WorkQueue.retry}. Default 200 ms to 5 min. */
  backoff?: BackoffLimits;
  /** Jitter, in [0, 1). Default `Math.random`. */
  random?: () => number;
}

/** Settings of {@linkcode WorkQueue.add}. */
export interface AddOptions {
  /** The higher, the sooner. Default 0. */
  priority?: number;
  /** Milliseconds to wait first. Default 0. */
  afterMs?: number;
}

/** The queue was closed while somebody waited for a key. */
export class QueueClosed extends Error {
  override readonly name = "QueueClosed";
}

interface Item {
  readonly key: string;
  readonly priority: number;
  readonly dueAt: number;
  readonly order: number;
}

interface Waiter {
  resolve(key: string): void;
  reject(reason: unknown): void;
}

const DEFAULT_BACKOFF: BackoffLimits = { baseMs: 200, maxMs: 300_000 };

/**
 * Keys that wait their turn. A key is in the queue at most once, with the earliest time
 * and the highest priority that it was added with. A key that is being worked on is not
 * given out again before {@linkcode WorkQueue.done}; added meanwhile, it comes after that.
 *
 * @example
 * ```ts
 * import { FakeClock } from "../core/clock_fake.ts";
 * import { WorkQueue } from "./workqueue.ts";
 * const queue = new WorkQueue({ clock: new FakeClock() });
 * queue.add("apps/web");
 * const key = await queue.next(new AbortController().signal);
 * queue.done(key);
 * ```
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #backoff: BackoffLimits;
  readonly #random: () => number;
  /** The valid item of each key. The heaps may hold outdated ones beside it, passed over later. */
  readonly #items = new Map<string, Item>();
  readonly #ready = new Heap<Item>((a, b) =>
    a.priority > b.priority || (a.priority === b.priority && a.order < b.order)
  );
  readonly #delayed = new Heap<Item>((a, b) =>
    a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order)
  );
  /** Keys that are worked on, with the priority that they had. */
  readonly #inFlight = new Map<string, number>();
  /** What was added while the key was worked on. */
  readonly #again = new Map<string, Item>();
  readonly #failures = new Map<string, number>();
  readonly #waiters = new Set<Waiter>();
  #order = 0;
  #latest = 0;
  #shift = 0;
  #cancelTimer: (() => void) | undefined;
  #timerAt = Infinity;
  #closed = false;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#backoff = options.backoff ?? DEFAULT_BACKOFF;
    this.#random = options.random ?? Math.random;
  }

  /** Keys that wait: ready, delayed, or to be done again after the work on them ends. */
  get length(): number {
    return this.#items.size + this.#again.size;
  }

  /** Keys that are being worked on. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Adds a key, or brings it forward. */
  add(key: string, options: AddOptions = {}): void {
    if (this.#closed) return;
    const afterMs = Math.max(0, options.afterMs ?? 0);
    if (Number.isNaN(afterMs)) throw new RangeError(`the delay of "${key}" is not a number`);
    const wish = {
      key,
      priority: options.priority ?? 0,
      dueAt: this.#now() + afterMs,
      order: this.#order++,
    };
    if (this.#inFlight.has(key)) {
      this.#again.set(key, merged(this.#again.get(key), wish));
    } else {
      this.#insert(merged(this.#items.get(key), wish));
      this.#serve();
    }
  }

  /**
   * The next key, when there is one.
   *
   * @throws the signal's reason when it aborts
   * @throws {QueueClosed} when the queue is closed
   */
  next(signal: AbortSignal): Promise<string> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      if (this.#closed) return reject(new QueueClosed("the queue is closed"));
      const onAbort = () => {
        this.#waiters.delete(waiter);
        this.#arm();
        reject(signal.reason);
      };
      const waiter: Waiter = {
        resolve: (key) => {
          signal.removeEventListener("abort", onAbort);
          resolve(key);
        },
        reject: (reason) => {
          signal.removeEventListener("abort", onAbort);
          reject(reason);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(waiter);
      this.#serve();
    });
  }

  /** The work on a key that {@linkcode WorkQueue.next} gave has ended, well or not. */
  done(key: string): void {
    if (!this.#inFlight.delete(key)) return;
    const again = this.#again.get(key);
    if (!again) return;
    this.#again.delete(key);
    this.#insert(again);
    this.#serve();
  }

  /**
   * Adds a key again after its backoff, at the priority that it had. The wait in
   * milliseconds is never less than `atLeastMs`, such as a server's Retry-After.
   */
  retry(key: string, atLeastMs = 0): number {
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const afterMs = Math.max(atLeastMs, backoffMs(this.#backoff, failures, this.#random()));
    this.add(key, { afterMs, priority: this.#inFlight.get(key) ?? 0 });
    return afterMs;
  }

  /** Starts the backoff of a key anew: it succeeded, or is gone. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** How often in a row a key has failed. */
  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  /** Ends the queue: whoever waits is rejected, nothing is added any more. */
  close(): void {
    this.#closed = true;
    this.#items.clear();
    this.#again.clear();
    this.#failures.clear();
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    this.#arm();
    for (const waiter of waiters) waiter.reject(new QueueClosed("the queue is closed"));
  }

  /** Time that never goes back: where the clock is set back, waits are not stretched. */
  #now(): number {
    const now = this.#clock.now() + this.#shift;
    if (now < this.#latest) this.#shift += this.#latest - now;
    return this.#latest = Math.max(now, this.#latest);
  }

  #insert(item: Item): void {
    if (this.#items.get(item.key) === item) return;
    this.#items.set(item.key, item);
    (item.dueAt <= this.#now() ? this.#ready : this.#delayed).push(item);
  }

  /** Gives ready keys to those who wait. */
  #serve(): void {
    for (const waiter of this.#waiters) {
      const item = this.#takeReady();
      if (!item) break;
      this.#waiters.delete(waiter);
      waiter.resolve(item.key);
    }
    this.#arm();
  }

  #takeReady(): Item | undefined {
    this.#promote();
    for (let item = this.#ready.pop(); item; item = this.#ready.pop()) {
      if (this.#items.get(item.key) !== item) continue;
      this.#items.delete(item.key);
      this.#inFlight.set(item.key, item.priority);
      return item;
    }
    return undefined;
  }

  /** Moves keys whose time has come to the ready ones. */
  #promote(): void {
    const now = this.#now();
    for (let item = this.#nextDelayed(); item && item.dueAt <= now; item = this.#nextDelayed()) {
      this.#delayed.pop();
      this.#ready.push(item);
    }
  }

  #nextDelayed(): Item | undefined {
    for (let item = this.#delayed.peek(); item; item = this.#delayed.peek()) {
      if (this.#items.get(item.key) === item) return item;
      this.#delayed.pop();
    }
    return undefined;
  }

  /** Sets the one timer, if somebody waits for a key whose time has not come. */
  #arm(): void {
    const at = this.#waiters.size > 0 ? this.#nextDelayed()?.dueAt ?? Infinity : Infinity;
    if (at === this.#timerAt) return;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#timerAt = at;
    if (at === Infinity) return;
    this.#cancelTimer = this.#clock.setTimer(() => {
      this.#timerAt = Infinity;
      this.#serve();
    }, at - this.#now());
  }
}

/** The earlier time and the higher priority of two wishes for one key. */
function merged(old: Item | undefined, wish: Item): Item {
  if (!old) return wish;
  const priority = Math.max(old.priority, wish.priority);
  const dueAt = Math.min(old.dueAt, wish.dueAt);
  if (priority === old.priority && dueAt === old.dueAt) return old;
  return { ...wish, priority, dueAt };
}
