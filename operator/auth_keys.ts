/**
 * Makes auth keys and stores them. A key that is made and not stored is known to
 * nobody else, so it is kept in mind until it is stored or revoked.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { timestamp } from "../core/conditions.ts";
import { deepEqual } from "../core/equal.ts";
import { Annotation } from "../core/labels.ts";
import { keyOf, type KubeObject } from "../core/object.ts";
import { Secret } from "../core/secret.ts";
import type { Action, MintedKey } from "../controllers/controller.ts";
import type { KubeClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import type { Log } from "../telemetry/log.ts";
import type { ClusterCache } from "./cache.ts";
import type { Tailnets } from "./tailnets.ts";

/** Options of {@linkcode AuthKeys}. */
export interface AuthKeysOptions {
  readonly client: KubeClient;
  readonly cache: ClusterCache;
  readonly tailnets: Tailnets;
  readonly clock: Clock;
  readonly log: Log;
}

type Mint = Extract<Action, { do: "mintAuthKey" }>;

/** A key that was made, and is not known to be stored. */
interface Loose {
  readonly action: Mint;
  readonly minted: MintedKey;
}

/**
 * A key that its proxy has not used by then is replaced; one that was lost, because
 * the process ended before it was stored, is of no use to anybody from then on.
 */
const KEY_LIFE_MS = 24 * 3_600_000;

/** Mints keys; loses none. */
export class AuthKeys {
  readonly #options: AuthKeysOptions;
  readonly #loose = new Set<Loose>();

  constructor(options: AuthKeysOptions) {
    this.#options = options;
  }

  /**
   * Makes a key, or takes the one that could not be stored the last time, and
   * stores it by `apply`.
   *
   * @throws the typed error of whoever refused it.
   */
  async mint(action: Mint, apply: (object: KubeObject) => Promise<void>): Promise<void> {
    const key = this.#takeLoose(action) ?? { action, minted: await this.#create(action) };
    try {
      await apply(action.store(key.minted));
    } catch (error) {
      this.#loose.add(key);
      if (await this.#settle(key) === "stored") return;
      throw error;
    }
  }

  /**
   * Revokes the keys that nothing will store any more, as far as that can be told now.
   * A replica that leads no more does so too, since no other knows of them.
   */
  async settle(): Promise<void> {
    for (const key of [...this.#loose]) await this.#settle(key);
  }

  /** A loose key that was made for the same object in the same way. */
  #takeLoose(action: Mint): Loose | undefined {
    const found = [...this.#loose].find(({ action: old, minted }) =>
      old.tailnet === action.tailnet && old.ephemeral === action.ephemeral &&
      deepEqual(old.tags, action.tags) &&
      keyOf(old.store(minted)) === keyOf(action.store(minted))
    );
    if (!found) return undefined;
    this.#loose.delete(found);
    return { ...found, action };
  }

  async #create({ tailnet, tags, ephemeral, description }: Mint): Promise<MintedKey> {
    const { tailnets, clock, log } = this.#options;
    const expirySeconds = KEY_LIFE_MS / 1000;
    const request = { tags, ephemeral, description, expirySeconds };
    const made = await tailnets.createAuthKey(tailnet, request);
    const { id, key, expires = timestamp(clock.now() + KEY_LIFE_MS) } = made;
    log.info("auth key made", { tailnet, id, tags });
    return { id, key: new Secret(key), expires };
  }

  /**
   * Did the write reach the API server although its answer did not reach us? Where
   * that can't be told, the key stays loose: it must not be revoked under a proxy
   * that may have it, nor be made again and again.
   */
  async #settle(key: Loose): Promise<"stored" | "revoked" | "unknown"> {
    const { tailnets, log } = this.#options;
    const { action: { tailnet }, minted: { id } } = key;
    try {
      const stored = await this.#isStored(key);
      if (!stored) await tailnets.deleteAuthKey(tailnet, id);
      this.#loose.delete(key);
      return stored ? "stored" : "revoked";
    } catch (error) {
      log.warn("an auth key is not stored yet, and is kept for the next try", {
        tailnet,
        id,
        error,
      });
      return "unknown";
    }
  }

  async #isStored({ action: { type, store }, minted }: Loose): Promise<boolean> {
    const { client, cache } = this.#options;
    const { name, namespace } = store(minted).metadata;
    try {
      const found = await client.get(type, name, namespace);
      if (found.metadata.annotations?.[Annotation.authKeyId] !== minted.id) return false;
      cache.took(type, found);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }
}
