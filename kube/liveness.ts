/**
 * Is the connection dead?
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";

/** Settings of {@linkcode Liveness}. */
export interface LivenessOptions {
  clock: Clock;
  /** Asks the other side for a sign of life; false when there is none. Must not reject. */
  probe(): Promise<boolean>;
  /** Called when there was none. */
  onDead(): void;
}

/** An answer within this time shows that the connection lives. */
const FRESH_MS = 15_000;

/**
 * Finds out whether silence means death: on suspicion, and where no answer has come lately,
 * it asks. Many who suspect at once cost one question.
 */
export class Liveness {
  readonly #options: LivenessOptions;
  #heardAt = -Infinity;
  #probing = false;

  constructor(options: LivenessOptions) {
    this.#options = options;
  }

  /** Something came from the other side. */
  heard(): void {
    this.#heardAt = this.#options.clock.now();
  }

  /** Nothing comes where something might. Returns at once. */
  suspect(): void {
    const age = this.#options.clock.now() - this.#heardAt;
    // A negative age is a clock that was set back: it proves nothing.
    if (this.#probing || (age >= 0 && age < FRESH_MS)) return;
    this.#probing = true;
    this.#options.probe().then((alive) => {
      this.#probing = false;
      if (!alive) this.#options.onDead();
    });
  }
}
