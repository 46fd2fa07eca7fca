/**
 * Whether this replica acts, or follows another one that does: see
 * docs/adr/0022-two-replicas.md.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { KubeClient } from "../kube/client.ts";
import { LeaderElector, type LeaderElectorOptions } from "../kube/leader_election.ts";
import type { Log } from "../telemetry/log.ts";

/** How replicas agree on a leader. */
export interface Election
  extends
    Pick<LeaderElectorOptions, "namespace" | "name" | "identity">,
    Partial<Pick<LeaderElectorOptions, "timing" | "monotonic">> {}

/** Options of {@linkcode Leadership}. */
export interface LeadershipOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where there is but one replica, which always leads. */
  readonly election?: Election;
  readonly random?: () => number;
}

/** Acts until its signal aborts. */
export type Lead = (term: AbortSignal) => Promise<void>;

/** The part of a replica among others, or alone. */
export class Leadership {
  readonly #elector: LeaderElector | undefined;
  /** A client whose writes only the leader's are. */
  readonly client: KubeClient;

  constructor({ election, ...options }: LeadershipOptions) {
    const log = options.log.named("election");
    this.#elector = election && new LeaderElector({ ...options, ...election, log });
    this.client = this.#elector ? options.client.fenced(this.#elector.fence) : options.client;
  }

  /** Are there other replicas, or may there be? */
  get shared(): boolean {
    return this.#elector !== undefined;
  }

  /** May this replica act at this moment? */
  get leads(): boolean {
    return this.#elector?.leads ?? true;
  }

  /** Lets nothing pass that only the leader may do. @throws {NotLeaderError} */
  readonly fence = (what: string): void => this.#elector?.fence(what);

  /** Leads whenever it is this replica's turn, until the signal aborts. */
  async run(signal: AbortSignal, lead: Lead): Promise<void> {
    await (this.#elector ? this.#elector.run(signal, lead) : lead(signal));
  }

  /** Resolves once it is known that another replica leads; else never. */
  async follows(): Promise<void> {
    await this.#elector?.decided;
    if (this.leads) await new Promise(() => {});
  }
}
