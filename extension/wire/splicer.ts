/**
 * Makes a message out of slices of another one and of bytes of our own, with one
 * copy at the end.
 *
 * @module
 */
import { type FieldCursor, LEN } from "./fields.ts";

/** Collects the parts of a new message. */
export class Splicer {
  #chunks: Uint8Array[] = [];
  /** A slice of the source that waits to be joined with the next one. */
  #from = 0;
  #to = 0;
  #length = 0;
  /** Single bytes to overwrite in the result: offset, value, offset, value … */
  #patches: number[] = [];

  constructor(readonly source: Uint8Array) {}

  /** Bytes of the result so far. */
  get length(): number {
    return this.#length;
  }

  /** Appends `source[from, to)`. */
  keep(from: number, to: number): void {
    if (from !== this.#to) {
      this.#flush();
      this.#from = from;
    }
    this.#to = to;
    this.#length += to - from;
  }

  /** Appends bytes that are not of the source. */
  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    this.#flush();
    this.#chunks.push(bytes);
    this.#length += bytes.length;
  }

  /**
   * Appends the field at the cursor under another field number. A tag of one byte
   * is overwritten in the result, so that neighbours stay one slice.
   */
  keepAs(number: number, field: FieldCursor): void {
    if (number < 16 && field.tagEnd - field.start === 1) {
      this.#patches.push(this.#length, number << 3 | field.wireType);
      this.keep(field.start, field.end);
      return;
    }
    this.add(varint(number * 8 + field.wireType));
    this.keep(field.tagEnd, field.end);
  }

  /** Appends a LEN field that holds what `inner` has collected. */
  addMessage(number: number, inner: Splicer): void {
    this.add(lenHeader(number, inner.length));
    const shift = this.#length;
    inner.#flush();
    this.#flush();
    for (const chunk of inner.#chunks) this.#chunks.push(chunk);
    for (let i = 0; i < inner.#patches.length; i += 2) {
      this.#patches.push(inner.#patches[i]! + shift, inner.#patches[i + 1]!);
    }
    this.#length += inner.length;
  }

  /** The message: the source's own bytes, uncopied, where they are all there is. */
  finish(): Uint8Array {
    this.#flush();
    const [only] = this.#chunks;
    if (only && this.#chunks.length === 1 && this.#patches.length === 0) return only;
    const result = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      result.set(chunk, at);
      at += chunk.length;
    }
    const patches = this.#patches;
    for (let i = 0; i < patches.length; i += 2) result[patches[i]!] = patches[i + 1]!;
    return result;
  }

  #flush(): void {
    if (this.#to > this.#from) this.#chunks.push(this.source.subarray(this.#from, this.#to));
    this.#from = this.#to = -1;
  }
}

/** A varint of up to 53 bits. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 128)) bytes.push(value % 128 | 0x80);
  bytes.push(value);
  return new Uint8Array(bytes);
}

/** Tag and length of a LEN field. */
export function lenHeader(number: number, length: number): Uint8Array {
  return concat([varint(number * 8 + LEN), varint(length)]);
}

/** A whole LEN field. */
export function lenField(number: number, value: Uint8Array): Uint8Array {
  return concat([lenHeader(number, value.length), value]);
}

/** One after the other. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
