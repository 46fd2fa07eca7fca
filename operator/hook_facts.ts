/**
 * Remembers what Envoy Gateway's calls told.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { HookFacts } from "../controllers/world.ts";
import { BehindError, type HookCall } from "../extension/server.ts";

interface Failed {
  readonly at: number;
  /** The revision that the call came with, where it could be read. */
  readonly revision?: string | undefined;
}

/** No hash: this process has not seen what was served. */
const UNSEEN = "";
/**
 * Whoever led when a revision was written has seen to it by then. If it died before,
 * another one leads sooner.
 */
const SEEN_TO_MS = 30_000;

/** Collects {@linkcode HookFacts} from calls. */
export class HookRecorder {
  readonly #clock: Clock;
  readonly #onChange: () => void;
  readonly #shared: boolean;
  readonly #asked = new Map<string, { readonly revision: string; readonly at: number }>();
  readonly #failed = new Map<string, Failed>();
  readonly #servedHash = new Map<string, string>();
  /** The revision that the last call came with. */
  readonly #servedFor = new Map<string, string>();
  #lastCallAt: number | undefined;

  /**
   * @param options.onChange Called when the facts change in a way that a plan could see.
   * @param options.shared Calls may also reach other replicas.
   */
  constructor(options: { clock: Clock; onChange: () => void; shared?: boolean }) {
    this.#clock = options.clock;
    this.#onChange = options.onChange;
    this.#shared = options.shared ?? false;
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
    const changed = this.#take(call, gateways);
    if (first || changed) this.#onChange();
  }

  /**
   * This replica begins to lead. What it was not called for while another one led, that
   * one has seen to: a restart does not write every revision again.
   */
  beganToLead(): void {
    const now = this.#clock.now();
    for (const [gateway, { at }] of this.#asked) {
      const old = now - at >= SEEN_TO_MS;
      if (old && this.#servedHash.get(gateway) === UNSEEN) this.#servedHash.delete(gateway);
    }
  }

  /**
   * The Gateway's revision is a new one: whatever failed before has been asked for
   * again, and is forgotten until a call fails anew. Else a Gateway that nobody
   * calls for would be asked for without end.
   */
  asked(gateway: string, revision: string): void {
    const failed = this.#failed.get(gateway);
    if (failed && failed.revision !== revision) this.#failed.delete(gateway);
    const before = this.#asked.get(gateway)?.revision;
    if (before === revision) return;
    this.#asked.set(gateway, { revision, at: this.#clock.now() });
    if (!this.#shared || before === undefined) return;
    if (this.#servedFor.get(gateway) === revision) return;
    // Another replica may be called for it, and fail, or lag behind. To be safe it is
    // asked for once more where this one was not called; then it counts as served.
    if (hashOf(before) === hashOf(revision)) this.#servedHash.delete(gateway);
    else this.#servedHash.set(gateway, UNSEEN);
  }

  /** The Gateway has no revision any more. */
  forget(gateway: string): void {
    this.#failed.delete(gateway);
    this.#servedHash.delete(gateway);
    this.#servedFor.delete(gateway);
    this.#asked.delete(gateway);
  }

  #take(call: HookCall, gateways: ReadonlyMap<string, string>): boolean {
    if (!call.error) return this.#succeed(call, gateways);
    // Envoy Gateway repeats the call by itself, here or elsewhere.
    return call.error instanceof BehindError ? false : this.#fail(call, gateways);
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
    for (const { gateway, revision } of revisions) {
      this.#servedFor.set(gateway, revision);
      mended = this.#failed.delete(gateway) || mended;
      const hash = gateways.get(gateway);
      if (hash === undefined) this.#servedHash.delete(gateway);
      else this.#servedHash.set(gateway, hash);
    }
    return mended;
  }
}

function hashOf(revision: string): string {
  return revision.replace(/\.\d+$/, "");
}
