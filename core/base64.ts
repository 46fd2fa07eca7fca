/**
 * Base64 of texts, as the values of Secrets are written.
 *
 * @module
 */

/** The UTF-8 bytes of a text in base64. */
export function encodeBase64(text: string): string {
  return btoa(
    Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""),
  );
}

/** The text of base64, or undefined where it is no base64 or no UTF-8. */
export function decodeBase64(value: string): string | undefined {
  try {
    const bytes = Uint8Array.from(atob(value), (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined; // the caller says what it wanted to read, and where
  }
}
