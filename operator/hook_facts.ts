/**
 * Remembers what Envoy Gateway's calls told.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { HookFacts } from "../controllers/world.ts";
import type { HookCall } from "../extension/server.ts";

interface Failed {
  readonly at: number;
  /** The revision that the call came with, where it could be read. */
  readonly revision?: string | undefined;
}

/** Collects {@linkcode HookFacts} from calls. */
export class HookRecorder {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #failed = new Map<string, Failed>();
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
      failedAt: new Map([...this.#failed].map(([gateway, { at }]) => [gateway, at])),
      servedHash: this.#servedHash,
    };
  }

  /** Takes in a finished call. `gateways`: the hash of what is rendered for each. */
  record(call: HookCall, gateways: ReadonlyMap<string, string>): void {
    const first = this.#lastCallAt === undefined;
    this.#lastCallAt = this.#clock.now();
    const changed = call.error ? this.#fail(call, gateways) : this.#succeed(call, gateways);
    if (first || changed) this.#onChange();
  }

  /**
   * The Gateway's revision is a new one: whatever failed before has been asked for
   * again, and is forgotten until a call fails anew. Else a Gateway that nobody
   * calls for would be asked for without end.
   */
  asked(gateway: string, revision: string): void {
    const failed = this.#failed.get(gateway);
    if (failed && failed.revision !== revision) this.#failed.delete(gateway);
  }

  /** The Gateway has no revision any more. */
  forget(gateway: string): void {
    this.#failed.delete(gateway);
    this.#servedHash.delete(gateway);
  }

  #fail({ revisions }: HookCall, gateways: ReadonlyMap<string, string>): boolean {
    const at = this.#clock.now();
    // A call that failed before it was read does not say whose it was.
    const concerned: { gateway: string; revision?: string }[] = revisions.length > 0
      ? [...revisions]
      : [...gateways.keys()].map((gateway) => ({ gateway }));
    const ours = concerned.filter(({ gateway }) => gateways.has(gateway));
    for (const { gateway, revision } of ours) this.#failed.set(gateway, { at, revision });
    return ours.length > 0;
  }

  #succeed({ revisions }: HookCall, gateways: ReadonlyMap<string, string>): boolean {
    let mended = false;
    for (const { gateway } of revisions) {
      mended = this.#failed.delete(gateway) || mended;
      const hash = gateways.get(gateway);
      if (hash === undefined) this.#servedHash.delete(gateway);
      else this.#servedHash.set(gateway, hash);
    }
    return mended;
  }
}
