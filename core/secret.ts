/**
 * Values that must never be printed, and a net under them for texts that come
 * from elsewhere.
 *
 * @module
 */

/** What is printed in place of a secret. */
export const REDACTED = "[redacted]";

// Deno.inspect and console.* look for the first, Node's util.inspect for the second.
const denoInspect = Symbol.for("Deno.customInspect");
const nodeInspect = Symbol.for("nodejs.util.inspect.custom");

/**
 * A credential. However it is printed (template string, `JSON.stringify`,
 * `Deno.inspect`, a log field) it says {@linkcode REDACTED}; only
 * {@linkcode Secret.reveal} gives the value.
 *
 * Deep comparison cannot look inside: two secrets always look alike to it. Use
 * {@linkcode Secret.equals}.
 *
 * @example
 * ```ts
 * import { Secret } from "./secret.ts";
 * const key = new Secret("tskey-auth-k1-x");
 * `${key}`; // "[redacted]"
 * key.reveal(); // "tskey-auth-k1-x"
 * ```
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself: for the request that needs it, never for a text. */
  reveal(): string {
    return this.#value;
  }

  /** Whether both hold the same value. */
  equals(other: Secret): boolean {
    return this.#value === other.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [Symbol.toPrimitive](): string {
    return REDACTED;
  }

  [denoInspect](): string {
    return REDACTED;
  }

  [nodeInspect](): string {
    return REDACTED;
  }
}

const NETS: readonly (readonly [RegExp, string])[] = [
  // Tailscale's auth keys, client secrets and API tokens.
  [/\btskey-[A-Za-z0-9_-]+/g, REDACTED],
  [/\b(Bearer)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
  [/(\bauthorization["']?\s*[:=]\s*["']?(?:Basic|Digest)\s+)[^\s"',;]+/gi, `$1${REDACTED}`],
  // Forms and JSON of an OAuth exchange.
  [
    /(\b(?:client_secret|client_assertion|access_token|refresh_token|id_token|password)["']?\s*[=:]\s*["']?)[^\s"'&,;}]+/gi,
    `$1${REDACTED}`,
  ],
  // A JSON web token (a service account's token is one).
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, REDACTED],
  // Keys in tailscaled's state, and PEM keys.
  [/\b(?:privkey|nlpriv):[0-9a-fA-F]+/g, REDACTED],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
];

/**
 * The text with everything that looks like a credential replaced: the net for
 * what other programs answer (error bodies), where {@linkcode Secret} cannot help.
 */
export function redactText(text: string): string {
  return NETS.reduce(
    (result, [pattern, replacement]) => result.replace(pattern, replacement),
    text,
  );
}
