/**
 * A credential that somebody hands out for a while: a plugin, or an identity provider.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";

/** What is shown to the API server. */
export interface Credential {
  readonly token?: string;
  /** Client certificate and its key, PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds since the epoch; absent: until it is refused. */
  readonly expiresAt?: number;
}

/** A credential is renewed this long before it expires, or after 3/4 of a shorter life. */
const MARGIN_MS = 60_000;
/** One that was just made and is refused is not made again at once: it would be refused too. */
const LEAST_MS = 5_000;

interface Held {
  readonly credential: Credential;
  readonly madeAt: number;
  readonly renewAt: number;
}

/** Keeps one credential fresh. However many ask at once, it is renewed once. */
export class RenewingCredential {
  readonly #renew: () => Promise<Credential>;
  readonly #clock: Pick<Clock, "now">;
  #held: Held | undefined;
  #flight: Promise<Credential> | undefined;

  constructor(renew: () => Promise<Credential>, clock: Pick<Clock, "now">) {
    this.#renew = renew;
    this.#clock = clock;
  }

  /**
   * A credential that is valid for now.
   *
   * @param refused The API server answered 401 to what was given before.
   * @throws what renewing throws, unless the one before is still valid.
   */
  async get(refused = false): Promise<Credential> {
    const now = this.#clock.now();
    const held = this.#held;
    if (held && now < held.renewAt && !(refused && now >= held.madeAt + LEAST_MS)) {
      return held.credential;
    }
    try {
      return await (this.#flight ??= this.#replace().finally(() => this.#flight = undefined));
    } catch (error) {
      const valid = held && !refused && now < (held.credential.expiresAt ?? Infinity);
      if (valid) return held.credential;
      throw error;
    }
  }

  /** The token of {@linkcode RenewingCredential.get}, for a KubeConfig. */
  async token(refused?: string): Promise<string> {
    const isCurrent = refused !== undefined && refused === this.#held?.credential.token;
    return (await this.get(isCurrent)).token ?? "";
  }

  async #replace(): Promise<Credential> {
    const credential = await this.#renew();
    const madeAt = this.#clock.now();
    const { expiresAt = Infinity } = credential;
    const renewAt = expiresAt - Math.min(MARGIN_MS, (expiresAt - madeAt) / 4);
    this.#held = { credential, madeAt, renewAt };
    return credential;
  }
}
