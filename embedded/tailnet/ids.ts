/**
 * Ids and secrets for a simulation: the same for the same seed, so of no worth
 * outside of it.
 *
 * @module
 */

const ALPHABET = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** A stream of texts that look random. */
export class IdSource {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** The next text of `length` letters and digits. */
  text(length: number): string {
    return Array.from({ length }, () => ALPHABET[this.#next() % ALPHABET.length]).join("");
  }

  /** One step of splitmix32. */
  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  }
}
