/**
 * What begins and ends with a replica's time as leader.
 *
 * @module
 */
import type { ResourceType } from "../core/object.ts";
import type { AuthKeys } from "./auth_keys.ts";
import type { ClusterCache } from "./cache.ts";
import type { Engine } from "./engine.ts";
import type { HookRecorder } from "./hook_facts.ts";
import type { Tailnets } from "./tailnets.ts";

/** Options of {@linkcode Terms}. */
export interface TermsOptions {
  readonly cache: ClusterCache;
  readonly types: readonly ResourceType[];
  readonly engines: readonly Engine[];
  readonly hooks: Pick<HookRecorder, "beganToLead">;
  readonly keys: AuthKeys;
  readonly tailnets: Tailnets;
  /** False once all ends: what hooks render must then stay as it is. */
  readonly serves: () => boolean;
}

/** A replica may lead more than once. */
export class Terms {
  readonly #options: TermsOptions;
  #count = 0;

  constructor(options: TermsOptions) {
    this.#options = options;
  }

  /** It begins to lead: all that is there is looked at. */
  began(): void {
    this.#options.hooks.beganToLead();
    if (this.#count++ === 0) return; // it waits for that since the start
    const { cache, types, engines } = this.#options;
    for (const type of types) {
      for (const object of cache.list(type)) {
        for (const engine of engines) engine.changed(type, { type: "modified", object });
      }
    }
  }

  /** It leads no more: what it knew of tailnets gets old from now on. */
  async ceased(): Promise<void> {
    const { keys, engines, tailnets, serves } = this.#options;
    await keys.settle();
    for (const engine of engines) engine.reset();
    if (serves()) tailnets.forgetAll();
  }
}
