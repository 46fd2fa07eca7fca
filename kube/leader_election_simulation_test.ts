import { assert, assertEquals } from "@std/assert";
import { LEASE_TIMING } from "./lease.ts";
import { Electorate, type Voter } from "./testing/electorate.ts";

const FAILOVERS = 1_000;
const SEEDS = 10;
/** A write may be under way for so long before it counts. */
const IN_FLIGHT_MS = LEASE_TIMING.marginMs - 600;

/** What may befall a leader, and how it is undone. */
const MISHAPS: Record<string, (leader: Voter) => () => void> = {
  killed: (leader) => {
    leader.kill();
    return () => {};
  },
  paused: (leader) => {
    leader.clock.pause();
    return () => leader.clock.resume();
  },
  "cut off": (leader) => {
    leader.cutOff = true;
    return () => leader.cutOff = false;
  },
};

/** Mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

class Simulation {
  readonly random: () => number;
  readonly electorate: Electorate;
  readonly dead: Voter[] = [];
  voters: Voter[];
  failovers = 0;
  twice = 0;
  late = 0;
  #names = 0;
  #lastWrite: { voter: Voter; at: number } | undefined;

  constructor(readonly seed: number) {
    this.random = seeded(seed);
    this.electorate = new Electorate(this.random);
    this.electorate.latencyMs = 300;
    this.voters = [this.#start(), this.#start(), this.#start()];
  }

  #start(): Voter {
    return this.electorate.start(`pod-${this.#names++}`);
  }

  /** Every process tries to write at every moment. */
  #look = () => {
    const writers = this.voters.filter(({ writes }) => writes);
    if (writers.length > 1) this.twice++;
    const [voter] = writers;
    if (!voter) return;
    const at = this.electorate.clock.now();
    const last = this.#lastWrite;
    if (last && last.voter !== voter && at - last.at < IN_FLIGHT_MS) this.late++;
    this.#lastWrite = { voter, at };
  };

  #leader(): Voter | undefined {
    return this.voters.find(({ writes }) => writes);
  }

  async failover(): Promise<void> {
    const { electorate, random } = this;
    const each = this.#look;
    await electorate.until("one leads", () => this.#leader() !== undefined, { stepMs: 500, each });
    await electorate.pass(random() * 6_000, { each });
    const leader = this.#leader();
    if (!leader) return;
    const names = Object.keys(MISHAPS);
    const name = names[Math.floor(random() * names.length)]!;
    const undo = MISHAPS[name]!(leader);
    if (random() < 0.2) this.#setSomeClock();
    const others = () => this.voters.some((voter) => voter !== leader && voter.writes);
    await electorate.until(`another leads after one was ${name}`, others, { stepMs: 500, each });
    this.failovers++;
    if (random() < 0.5) await electorate.pass(random() * 10_000, { each });
    undo();
    this.#look();
    if (name === "killed") this.#replace(leader);
  }

  #setSomeClock(): void {
    const voter = this.voters[Math.floor(this.random() * this.voters.length)]!;
    voter.clock.offset = (this.random() < 0.5 ? -1 : 1) * 3_600_000;
  }

  #replace(leader: Voter): void {
    this.dead.push(leader);
    this.voters = [...this.voters.filter((voter) => voter !== leader), this.#start()];
  }

  async end(): Promise<void> {
    for (const voter of [...this.voters, ...this.dead]) await voter.bury(this.electorate);
  }
}

Deno.test("figure 15: in 1000 failovers, with pauses and clocks set by an hour, two leaders never write at once", async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const simulation = new Simulation(seed);
    try {
      while (simulation.failovers < FAILOVERS / SEEDS) await simulation.failover();
      const { twice, late } = simulation;
      assertEquals({ twice, late }, { twice: 0, late: 0 }, `seed ${seed}`);
    } finally {
      await simulation.end();
    }
    assert(simulation.electorate.clock.pending === 0);
  }
});
