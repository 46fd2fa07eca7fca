/**
 * Keeps secrets out of error messages, even those that a server echoes.
 *
 * @module
 */

const REDACTED = "[redacted]";
/** Tokens seen lately; one may still be in an answer that is under way. */
const REMEMBERED = 8;

const PATTERNS: readonly RegExp[] = [
  /tskey-[A-Za-z]+-[A-Za-z0-9_-]+/g, // client secrets, auth keys and API tokens
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]+/gi,
  /\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, // JSON web tokens
];

/** Replaces known secrets, and what has the form of one, in text. */
export class Redactor {
  readonly #fixed: readonly string[];
  #recent: string[] = [];

  constructor(secrets: readonly string[]) {
    this.#fixed = secrets.filter((secret) => secret !== "");
  }

  /** Adds a secret that was handed out, such as a token. */
  remember(secret: string): void {
    if (secret === "" || this.#recent.includes(secret)) return;
    this.#recent = [...this.#recent, secret].slice(-REMEMBERED);
  }

  /** The text without secrets: as they are, or as a form or JSON would carry them. */
  clean(text: string): string {
    let out = text;
    for (const secret of [...this.#fixed, ...this.#recent]) {
      for (const form of formsOf(secret)) out = out.replaceAll(form, REDACTED);
    }
    for (const pattern of PATTERNS) out = out.replace(pattern, REDACTED);
    return out;
  }
}

function formsOf(secret: string): Set<string> {
  const form = new URLSearchParams([["s", secret]]).toString().slice(2);
  return new Set([secret, encodeURIComponent(secret), form, JSON.stringify(secret).slice(1, -1)]);
}
