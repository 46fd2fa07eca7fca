/**
 * Processes that elect a leader through an API server in memory, each of which can
 * be paused, cut off, killed, and have its clock set.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { FakeClock } from "../../core/clock_fake.ts";
import { EmbeddedApiServer } from "../../embedded/apiserver/mod.ts";
import { KubeClient } from "../client.ts";
import { KubeConnectionError } from "../errors.ts";
import { LeaderElector } from "../leader_election.ts";
import { LEASE, type Lease } from "../lease.ts";
import { silentLog } from "../log.ts";
import { handlerTransport, type Transport } from "../transport.ts";

/** A process' own view of time: it stands still while it is paused. */
class ProcessClock implements Clock {
  offset = 0;
  /** What became due while it stood still. */
  #due: (() => void)[] | undefined;

  constructor(readonly world: FakeClock) {}

  get paused(): boolean {
    return this.#due !== undefined;
  }

  now(): number {
    return this.world.now() + this.offset;
  }

  setTimer(fn: () => void, ms: number): () => void {
    let cancelled = false;
    const run = () => {
      if (cancelled) return;
      if (this.#due) this.#due.push(run);
      else fn();
    };
    const cancel = this.world.setTimer(run, ms);
    return () => {
      cancelled = true;
      cancel();
    };
  }

  pause(): void {
    this.#due ??= [];
  }

  resume(): void {
    const due = this.#due ?? [];
    this.#due = undefined;
    for (const fn of due) fn();
  }

  /** Waits until it does not stand still. */
  async running(): Promise<void> {
    while (this.#due) await new Promise<void>((resolve) => this.#due!.push(resolve));
  }
}

/** One process. */
export class Voter {
  readonly clock: ProcessClock;
  readonly elector: LeaderElector;
  /** It cannot reach the API server. */
  cutOff = false;
  /** Its `lead` runs. */
  acts = false;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(readonly name: string, electorate: Electorate) {
    this.clock = new ProcessClock(electorate.clock);
    this.elector = new LeaderElector({
      client: new KubeClient(electorate.transport(this), { clock: this.clock }),
      clock: this.clock,
      monotonic: () => electorate.clock.now(),
      random: electorate.random,
      log: silentLog,
      namespace: "default",
      name: "test",
      identity: name,
    });
    this.#ended = this.elector.run(this.#stop.signal, async (signal) => {
      this.acts = true;
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      this.acts = false;
    });
  }

  /** Would a write of this process be sent at this moment? */
  get writes(): boolean {
    if (this.clock.paused || !this.acts) return false;
    try {
      this.elector.fence("PATCH something");
      return true;
    } catch {
      return false;
    }
  }

  /** Ends in good order. */
  async stop(electorate: Electorate): Promise<void> {
    this.#stop.abort();
    await electorate.until("it has ended", () => this.#ended.then(() => true));
  }

  /** Is gone at once: nothing that it sends arrives any more. */
  kill(): void {
    this.cutOff = true;
    this.clock.pause();
  }

  /** Ends what was killed, so that nothing of it is left over. */
  async bury(electorate: Electorate): Promise<void> {
    this.cutOff = true;
    this.clock.resume();
    await this.stop(electorate);
  }
}

/** The API server, and time. */
export class Electorate {
  readonly clock = new FakeClock();
  readonly api = new EmbeddedApiServer({ clock: this.clock });
  /** How long a request takes each way, at most. */
  latencyMs = 0;
  /** Holders in the order in which they came. */
  readonly holders: { readonly name: string; readonly at: number }[] = [];
  #busy = 0;

  constructor(readonly random: () => number = () => 0.5) {}

  start(name: string): Voter {
    return new Voter(name, this);
  }

  get lease(): Lease | undefined {
    return this.api.objects(LEASE)[0] as Lease | undefined;
  }

  /** A process' way to the API server. */
  transport(voter: Voter): Transport {
    const inner = handlerTransport((request) => this.api.handle(request), { clock: this.clock });
    const travel = async (what: string, signal: AbortSignal | undefined) => {
      if (this.latencyMs > 0) {
        await new Promise<void>((resolve) => {
          voter.clock.setTimer(resolve, this.latencyMs * this.random());
        });
      }
      signal?.throwIfAborted();
      if (voter.cutOff) throw new KubeConnectionError(what, "cut off");
    };
    return {
      request: async (path, init = {}) => {
        const signal = init.signal ?? undefined;
        await travel(path, signal);
        this.#busy++;
        let response: Response;
        try {
          response = await inner.request(path, init);
        } finally {
          this.#busy--;
        }
        this.#note();
        await travel(path, signal);
        await voter.clock.running();
        return response;
      },
      close: () => inner.close(),
    };
  }

  /** Moves on by so much, in steps, after each of which all that can go on has gone on. */
  async pass(ms: number, { stepMs = 500, each }: { stepMs?: number; each?: () => void } = {}) {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.settle();
      this.clock.advance(Math.min(stepMs, left));
      each?.();
      await this.settle();
      each?.();
    }
  }

  /** Moves on until it is so; gives how long that took. */
  async until(
    what: string,
    is: () => boolean | Promise<boolean>,
    { stepMs = 100, each }: { stepMs?: number; each?: () => void } = {},
  ): Promise<number> {
    const began = this.clock.now();
    let done: boolean | undefined;
    const look = async () => {
      done = await Promise.race([is(), this.settle().then(() => false)]);
      return done;
    };
    while (!await look()) {
      if (this.clock.now() - began > 120_000) throw new Error(`never: ${what}`);
      await this.pass(stepMs, { stepMs, ...(each ? { each } : {}) });
    }
    return this.clock.now() - began;
  }

  /** Lets go on what waits for nothing but its turn. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 2; quiet = this.#busy > 0 ? 0 : quiet + 1) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  #note(): void {
    const name = this.lease?.spec?.holderIdentity ?? "";
    if (this.holders.at(-1)?.name !== name) this.holders.push({ name, at: this.clock.now() });
  }
}
