/**
 * Remembers what Envoy Gateway's calls told.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { HookFacts } from "../controllers/world.ts";
import type { HookCall } from "../extension/server.ts";

/** Collects {@linkcode HookFacts} from calls. */
export class HookRecorder {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #failedAt = new Map<string, number>();
  readonly #servedHash = new Map<string, string>();
  #lastCallAt: number | undefined;

  /** @param options.onChange Called when the facts change in a way that a plan could see. */
  constructor(options: { clock: Clock; onChange: () => void }) {
    this.#clock = options.clock;
    this.#onChange = options.onChange;
  }

  /** What is known now. */
  get facts(): HookFacts {
    return {
      ...(this.#lastCallAt === undefined ? {} : { lastCallAt: this.#lastCallAt }),
      failedAt: this.#failedAt,
      servedHash: this.#servedHash,
    };
  }

  /** Takes in a finished call. `gateways`: the hash of what is rendered for each. */
  record(call: HookCall, gateways: ReadonlyMap<string, string>): void {
    const first = this.#lastCallAt === undefined;
    this.#lastCallAt = this.#clock.now();
    // A call that failed before it was read does not say whose it was.
    const named = call.revisions.map(({ gateway }) => gateway);
    const concerned = call.error && named.length === 0 ? [...gateways.keys()] : named;
    const failedBefore = concerned.some((gateway) => this.#failedAt.has(gateway));
    for (const gateway of concerned) {
      if (call.error) this.#failedAt.set(gateway, this.#lastCallAt);
      else this.#succeeded(gateway, gateways.get(gateway));
    }
    if (first || call.error || failedBefore) this.#onChange();
  }

  #succeeded(gateway: string, hash: string | undefined): void {
    this.#failedAt.delete(gateway);
    if (hash === undefined) this.#servedHash.delete(gateway);
    else this.#servedHash.set(gateway, hash);
  }
}
