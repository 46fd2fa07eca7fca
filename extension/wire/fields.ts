/**
 * Walks the top level of an encoded protobuf message without decoding it, so that
 * what nobody edits can be passed on as the slice that it is.
 *
 * Total: any input either walks to its end or throws
 * {@linkcode MalformedMessageError}. Encodings that are valid but not canonical
 * (overlong varints, groups) walk too, since their bytes are kept as they are.
 *
 * @module
 */

/** Wire types of the protobuf encoding. */
export const VARINT = 0, FIXED64 = 1, LEN = 2, START_GROUP = 3, END_GROUP = 4, FIXED32 = 5;

const MAX_GROUP_DEPTH = 100;

/** Bytes that are not a protobuf message. */
export class MalformedMessageError extends Error {
  override readonly name = "MalformedMessageError";

  /** @param offset Where in the bytes the walk stopped. */
  constructor(readonly problem: string, readonly offset: number) {
    super(`malformed protobuf message: ${problem} at byte ${offset}`);
  }
}

/**
 * A cursor over the fields of `bytes[from, to)`. One object for all fields, since
 * a message has thousands.
 *
 * @example
 * ```ts
 * import { FieldCursor } from "./fields.ts";
 * const field = new FieldCursor(new Uint8Array([0x08, 0x01, 0x12, 0x01, 0x61]));
 * while (field.next()) console.log(field.number, field.wireType);
 * ```
 */
export class FieldCursor {
  /** Field number of the current field. */
  number = 0;
  wireType = 0;
  /** Offset of the field's tag. */
  start = 0;
  /** Offset just after the tag. */
  tagEnd = 0;
  /** Offset of the value; of a LEN field, of what its length counts. */
  valueStart = 0;
  /** Offset just after the field. */
  end: number;
  /** Offset up to which varints have been read. */
  #at = 0;

  constructor(readonly bytes: Uint8Array, from = 0, readonly limit = bytes.length) {
    this.end = from;
  }

  /** Steps to the next field; false at the end of the message. */
  next(): boolean {
    if (this.end >= this.limit) return false;
    this.#readTag(this.end);
    if (this.wireType === END_GROUP) throw this.#malformed("end of a group that never began");
    this.end = this.#endOfValue(0);
    return true;
  }

  #readTag(at: number): void {
    this.start = at;
    this.#at = at;
    const tag = this.#varint32();
    this.number = tag >>> 3;
    this.wireType = tag & 7;
    this.tagEnd = this.valueStart = this.#at;
    if (this.number === 0) throw this.#malformed("field number 0");
  }

  #endOfValue(depth: number): number {
    switch (this.wireType) {
      case VARINT:
        return this.#endOfVarint();
      case FIXED64:
        return this.#within(this.valueStart + 8);
      case LEN: {
        const length = this.#varint32();
        this.valueStart = this.#at;
        return this.#within(this.#at + length);
      }
      case START_GROUP:
        return this.#endOfGroup(depth + 1);
      case FIXED32:
        return this.#within(this.valueStart + 4);
      default:
        throw this.#malformed(`wire type ${this.wireType}`);
    }
  }

  #endOfGroup(depth: number): number {
    if (depth > MAX_GROUP_DEPTH) throw this.#malformed("groups nested too deep");
    const { number, wireType, start, tagEnd } = this;
    for (let at = tagEnd;;) {
      if (at >= this.limit) throw this.#malformed("group without end");
      this.#readTag(at);
      if (this.wireType === END_GROUP) break;
      at = this.#endOfValue(depth);
    }
    if (this.number !== number) throw this.#malformed(`end of group ${this.number} in ${number}`);
    const end = this.tagEnd;
    this.number = number;
    this.wireType = wireType;
    this.start = start;
    this.tagEnd = this.valueStart = tagEnd;
    return end;
  }

  #endOfVarint(): number {
    const { bytes } = this;
    const limit = Math.min(this.limit, this.valueStart + 10);
    for (let at = this.valueStart; at < limit; at++) {
      if (bytes[at]! < 0x80) return at + 1;
    }
    throw this.#malformed("unterminated varint");
  }

  /** Reads a varint that must fit 32 bits, as tags and lengths do. */
  #varint32(): number {
    const { bytes } = this;
    let value = 0, scale = 1;
    const first = this.#at, limit = Math.min(this.limit, first + 10);
    for (let at = first; at < limit; at++) {
      const byte = bytes[at]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > 0xffff_ffff) break;
        this.#at = at + 1;
        return value;
      }
      scale *= 128;
    }
    throw this.#malformed("bad tag or length");
  }

  #within(end: number): number {
    if (end > this.limit) throw this.#malformed("field runs past the end");
    return end;
  }

  #malformed(problem: string): MalformedMessageError {
    return new MalformedMessageError(problem, this.start);
  }
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** `bytes[start, end)` as text; bytes that are no UTF-8 become U+FFFD. */
export function textOf(bytes: Uint8Array, start: number, end: number): string {
  return utf8.decode(bytes.subarray(start, end));
}

/** Where a LEN field's value lies. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * The last LEN field of a number in `bytes[from, to)`: of a string or bytes field
 * that is given twice, the last one counts.
 */
export function findLast(
  bytes: Uint8Array,
  number: number,
  range: Range = { start: 0, end: bytes.length },
): Range | undefined {
  const field = new FieldCursor(bytes, range.start, range.end);
  let found: Range | undefined;
  while (field.next()) {
    if (field.number === number && field.wireType === LEN) {
      found = { start: field.valueStart, end: field.end };
    }
  }
  return found;
}

/** The text of a string field, or "" when it is not there, as protobuf has it. */
export function stringField(bytes: Uint8Array, number: number, range?: Range): string {
  const found = findLast(bytes, number, range);
  return found ? textOf(bytes, found.start, found.end) : "";
}
