/**
 * What has to be heard of tailnets before anything is said or served.
 *
 * @module
 */
import type { TailnetState } from "../controllers/world.ts";

/** Options of {@linkcode KnownTailnets}. */
export interface KnownTailnetsOptions {
  /** The names of the TailscaleTailnets that are there. */
  readonly names: () => readonly string[];
  readonly state: (name: string) => TailnetState | undefined;
  /** Has its controller looked at it? */
  readonly hasRun: (name: string) => boolean;
}

/** Knows which tailnets were tried. */
export class KnownTailnets {
  readonly #options: KnownTailnetsOptions;
  readonly #settled = Promise.withResolvers<void>();

  constructor(options: KnownTailnetsOptions) {
    this.#options = options;
  }

  /** Resolves when each was tried once. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Was it tried, so that something can be said of it? */
  knows(name: string): boolean {
    const state = this.#options.state(name);
    // Without a usable Secret it is never opened, and a refused one is never listed.
    if (!state) return this.#options.hasRun(name);
    return state.triedAt !== undefined || (state.check !== undefined && "failure" in state.check);
  }

  /** Something was learned of some tailnet. */
  look(): void {
    if (this.#untried().length === 0) this.#settled.resolve();
  }

  /** Why hooks are not served, as far as it is for tailnets. */
  waitingFor(): string {
    const untried = this.#untried();
    return untried.length > 0 ? `: waiting for the answer of tailnet ${untried.join(", ")}` : "";
  }

  #untried(): string[] {
    return this.#options.names().filter((name) => !this.knows(name));
  }
}
