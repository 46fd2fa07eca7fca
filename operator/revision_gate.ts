/**
 * Tells whether this replica lags behind the one that wrote a revision.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { GatewayRevision } from "../extension/hooks/revisions.ts";

/**
 * How long a revision that was never rendered here is waited for. The last of the four
 * attempts that Envoy Gateway makes by default (after 100, 200 and 400 ms, each give or
 * take a fifth) comes later, so that no translation fails of it.
 */
export const PATIENCE_MS = 500;
/** Hashes that are remembered for each Gateway. */
const REMEMBERED = 64;

/** Options of {@linkcode RevisionGate}. */
export interface RevisionGateOptions {
  readonly clock: Pick<Clock, "now">;
  /** The leader writes revisions, and so lags behind none. */
  readonly leads: () => boolean;
}

/**
 * A hash cannot tell ahead from behind; but what was rendered here before is old. A
 * hash that never was may be one that is still to come. It is waited for, though not
 * for long: it may also have been skipped here, or be another release's.
 */
export class RevisionGate {
  readonly #options: RevisionGateOptions;
  /** By Gateway, the oldest first. */
  readonly #rendered = new Map<string, Set<string>>();
  readonly #awaited = new Map<string, { readonly hash: string; readonly since: number }>();

  constructor(options: RevisionGateOptions) {
    this.#options = options;
  }

  /** Takes in the hash of what is rendered for each Gateway now. */
  rendered(gateways: ReadonlyMap<string, string>): void {
    for (const [gateway, hash] of gateways) {
      const hashes = this.#rendered.get(gateway) ?? new Set();
      this.#rendered.set(gateway, hashes.add(hash));
      const [oldest] = hashes;
      if (hashes.size > REMEMBERED && oldest !== undefined) hashes.delete(oldest);
    }
  }

  /** Why a call that came with these revisions should go elsewhere, or come again. */
  behind(revisions: readonly GatewayRevision[]): string | undefined {
    if (this.#options.leads()) return undefined;
    const awaited = revisions.find((revision) => this.#isAwaited(revision));
    return awaited && `revision ${awaited.revision} of Gateway ${awaited.gateway} ` +
        "has not reached this replica yet; try again";
  }

  /** The Gateway has no revision any more. */
  forget(gateway: string): void {
    this.#rendered.delete(gateway);
    this.#awaited.delete(gateway);
  }

  #isAwaited({ gateway, revision }: GatewayRevision): boolean {
    const hash = revision.replace(/\.\d+$/, "");
    if (this.#rendered.get(gateway)?.has(hash)) return false;
    const now = this.#options.clock.now();
    const known = this.#awaited.get(gateway);
    // A clock that was set back must not make anybody wait.
    const since = known?.hash === hash ? Math.min(known.since, now) : now;
    this.#awaited.set(gateway, { hash, since });
    return now - since < PATIENCE_MS;
  }
}
