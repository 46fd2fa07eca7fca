/**
 * Leader election: of several processes, one acts. As client-go does it, with a
 * Lease that the leader renews, and a fence that a leader cannot pass whose Lease may
 * have ended without it noticing.
 *
 * @module
 */
import { type Clock, sleep } from "../core/clock.ts";
import { isAlreadyExists, isConflict, NotLeaderError } from "./errors.ts";
import type { KubeClient } from "./client.ts";
import {
  type Lease,
  LEASE_TIMING,
  LeaseClient,
  LeaseLostError,
  type LeaseTiming,
} from "./lease.ts";
import type { Logger } from "./log.ts";

/** Options of {@linkcode LeaderElector}. */
export interface LeaderElectorOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Of this process; no two that run may have the same. */
  readonly identity: string;
  readonly timing?: LeaseTiming;
  /** Milliseconds that never go back, whoever sets the clock. Default: `performance.now`. */
  readonly monotonic?: () => number;
  readonly random?: () => number;
}

/** A Lease that was taken or renewed by a request sent at that time. */
interface Held {
  readonly lease: Lease;
  readonly sent: Moment;
}

/** A moment on both clocks. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** Another's Lease, and when this process first saw it so: others' clocks are not trusted. */
interface Seen {
  readonly spec: string;
  readonly since: number;
}

/** Takes part in an election until it is told to stop. */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #timing: LeaseTiming;
  readonly #lease: LeaseClient;
  readonly #monotonic: () => number;
  readonly #decided = Promise.withResolvers<void>();
  #held: Held | undefined;
  #seen: Seen | undefined;
  #holder: string | undefined;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#timing = options.timing ?? LEASE_TIMING;
    this.#lease = new LeaseClient({ ...options, durationMs: this.#timing.durationMs });
    this.#monotonic = options.monotonic ?? (() => performance.now());
  }

  /**
   * Is it certain at this moment that nobody else leads? False also in the last part of
   * a Lease, and after the process (or its machine) stood still.
   */
  get leads(): boolean {
    return this.#validMs() > 0;
  }

  /** Who leads, as far as this process has seen. */
  get holder(): string | undefined {
    return this.#holder;
  }

  /** Resolves when it is first known whether this process leads. */
  get decided(): Promise<void> {
    return this.#decided.promise;
  }

  /** Lets nothing pass that only the leader may do. @throws {NotLeaderError} */
  readonly fence = (what: string): void => {
    if (!this.leads) throw new NotLeaderError(what);
  };

  /**
   * Until the signal aborts: wants the Lease, and while it has it, leads. The Lease is
   * given up once `lead` has ended.
   *
   * @param lead Acts until its signal aborts: the Lease is lost, or all is to end.
   * @throws what `lead` throws.
   */
  async run(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    while (await this.#acquire(signal)) {
      try {
        await this.#term(signal, lead);
      } finally {
        if (this.#held) await this.#release(this.#held.lease);
        this.#held = undefined;
      }
    }
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const taken = await this.#tried(
        "the lease could not be read or taken",
        () => this.#take(signal),
      );
      if (taken !== undefined) this.#decided.resolve();
      if (taken) return true;
      await this.#pause(this.#waitMs(), signal);
    }
    return false;
  }

  /** True: this process leads; false: another one does. */
  async #take(signal: AbortSignal): Promise<boolean> {
    return await this.#bounded(signal, async (bound) => {
      const lease = await this.#lease.read(bound);
      if (!this.#isFree(lease)) return false;
      const sent = this.#now();
      try {
        this.#hold(await this.#lease.take(lease, bound), sent);
        this.#options.log.info("leads", { identity: this.#options.identity });
        return true;
      } catch (error) {
        // Another one was faster.
        if (isConflict(error) || isAlreadyExists(error)) return false;
        throw error;
      }
    });
  }

  /** Nobody holds it, or whoever does has not renewed it for as long as it lasts. */
  #isFree(lease: Lease | undefined): boolean {
    const { holderIdentity, leaseDurationSeconds = 0 } = lease?.spec ?? {};
    // An answer that told us of our Lease may have been lost.
    if (lease && (!holderIdentity || holderIdentity === this.#options.identity)) return true;
    // Where somebody deleted it, who held it may not know so yet.
    if (!lease && !this.#seen) return true;
    if (holderIdentity && this.#holder !== holderIdentity) {
      this.#options.log.info("follows", { leader: holderIdentity });
      this.#holder = holderIdentity;
    }
    const text = JSON.stringify(lease?.spec ?? null), now = this.#monotonic();
    if (this.#seen?.spec !== text) this.#seen = { spec: text, since: now };
    const lasts = Math.max(this.#timing.durationMs, leaseDurationSeconds * 1000);
    return now - this.#seen.since >= lasts;
  }

  async #term(signal: AbortSignal, lead: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const leading = lead(stop.signal).finally(() => stop.abort());
    leading.catch(() => {}); // thrown below
    await this.#keep(stop.signal);
    stop.abort();
    signal.removeEventListener("abort", onAbort);
    await leading;
  }

  /** Renews the Lease until it is lost, or the signal aborts. */
  async #keep(signal: AbortSignal): Promise<void> {
    let waitMs = this.#timing.renewMs;
    while (this.#held && !signal.aborted) {
      await this.#pause(Math.min(waitMs, Math.max(this.#validMs(), 0)), signal);
      if (signal.aborted) return;
      const renewed = await this.#tried(
        "the lease could not be renewed",
        () => this.#renew(signal),
      );
      waitMs = renewed ? this.#timing.renewMs : this.#retryMs();
      if (!renewed && this.#held && !this.leads && !signal.aborted) {
        this.#options.log.warn("leads no more: the lease could not be renewed in time");
        this.#held = undefined;
      }
    }
  }

  async #renew(signal: AbortSignal): Promise<true> {
    const held = this.#held!.lease;
    await this.#bounded(signal, async (bound) => {
      const sent = this.#now();
      try {
        this.#hold(await this.#lease.renew(held, bound), sent);
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error;
        this.#options.log.warn("leads no more", { leader: error.holder });
        this.#held = undefined;
      }
    });
    return true;
  }

  async #release(lease: Lease): Promise<void> {
    // From here on nothing passes the fence.
    this.#held = undefined;
    await this.#tried("the lease could not be given up, and ends by itself", async () => {
      const never = new AbortController();
      await this.#bounded(never.signal, (bound) => this.#lease.release(lease, bound));
      this.#options.log.info("gave up the lease");
      return true;
    });
  }

  #hold(lease: Lease, sent: Moment): void {
    this.#held = { lease, sent };
    this.#seen = undefined;
    this.#holder = this.#options.identity;
  }

  /**
   * For how long the Lease is certainly ours. It counts from when the request was sent,
   * by the clock that ran more: a machine that slept does not move the monotonic one,
   * and a clock that was set back does not make a Lease last.
   */
  #validMs(): number {
    if (!this.#held) return 0;
    const { durationMs, marginMs } = this.#timing;
    const now = this.#now(), { sent } = this.#held;
    const passed = Math.max(now.monotonic - sent.monotonic, now.wall - sent.wall);
    return durationMs - marginMs - passed;
  }

  /** Until the next look at another's Lease: soon, and exactly when it ends. */
  #waitMs(): number {
    const ends = this.#seen
      ? this.#seen.since + this.#timing.durationMs - this.#monotonic()
      : Infinity;
    return ends > 0 ? Math.min(this.#retryMs(), ends) : this.#retryMs();
  }

  #retryMs(): number {
    const { random = Math.random } = this.#options;
    return this.#timing.retryMs * (0.9 + 0.1 * random());
  }

  #now(): Moment {
    return { monotonic: this.#monotonic(), wall: this.#options.clock.now() };
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(this.#options.clock, ms, signal).catch(() => {});
  }

  /** Undefined where it failed, of which the log tells. */
  async #tried<T>(what: string, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act();
    } catch (error) {
      this.#options.log.warn(what, { error });
      return undefined;
    }
  }

  /** A request that hangs must not outlast the time in which another one could succeed. */
  async #bounded<T>(
    signal: AbortSignal,
    act: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const bound = new AbortController();
    const end = () => bound.abort(new DOMException("ended", "AbortError"));
    const cancel = this.#options.clock.setTimer(end, this.#timing.renewMs);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    try {
      return await act(bound.signal);
    } finally {
      cancel();
      signal.removeEventListener("abort", end);
    }
  }
}
