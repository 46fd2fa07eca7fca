/**
 * Random protobuf messages, as a newer Envoy Gateway might send them: fields that
 * we know nothing of, in any order and in encodings that are valid but unusual.
 *
 * @module
 */
import fc from "fast-check";
import { concat, lenField, varint } from "../wire/splicer.ts";

/** Adds leading zeros to a varint, which the encoding allows. */
function overlong(bytes: Uint8Array, extra: number): Uint8Array {
  if (extra === 0) return bytes;
  const result = new Uint8Array(bytes.length + extra).fill(0x80);
  result.set(bytes);
  result[bytes.length - 1]! |= 0x80;
  result[result.length - 1] = 0;
  return result;
}

const padding = fc.nat({ max: 9 }).map((n) => n > 7 ? n - 7 : 0);

/** The encoding of a field number and wire type. */
function tag(number: number, wireType: number): fc.Arbitrary<Uint8Array> {
  return padding.map((extra) => overlong(varint(number * 8 + wireType), extra));
}

const fieldNumber = fc.oneof(
  fc.integer({ min: 1, max: 60 }),
  fc.integer({ min: 1, max: 2 ** 29 - 1 }),
);

const fixed = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });

const { field } = fc.letrec<{ field: Uint8Array; fields: Uint8Array }>((tie) => ({
  field: fieldNumber.chain((number) =>
    fc.oneof(
      { depthSize: "small" },
      fc.tuple(tag(number, 0), fc.maxSafeNat().map(varint)),
      fc.tuple(tag(number, 1), fixed(8)),
      fc.tuple(tag(number, 5), fixed(4)),
      fc.tuple(tag(number, 2), padding, fc.uint8Array({ maxLength: 200 }))
        .map(([t, extra, value]) => [t, overlong(varint(value.length), extra), value]),
      fc.tuple(tag(number, 3), tie("fields"), tag(number, 4)),
    ).map(concat)
  ),
  fields: fc.array(tie("field"), { maxLength: 4 }).map(concat),
}));

/** One field of any number, wire type and encoding. */
export const anyField: fc.Arbitrary<Uint8Array> = field;

/** A message of any fields. */
export const anyMessage: fc.Arbitrary<Uint8Array> = fc.array(anyField, { maxLength: 12 })
  .map(concat);

/** A message that has a string field 1 and, around it, any other fields but that one. */
export function namedMessage(name: fc.Arbitrary<string>): fc.Arbitrary<Uint8Array> {
  return fc.tuple(otherThan([1]), name, otherThan([1])).map(([before, text, after]) =>
    concat([before, lenField(1, new TextEncoder().encode(text)), after])
  );
}

/** Fields of any number but the given ones. */
export function otherThan(numbers: readonly number[]): fc.Arbitrary<Uint8Array> {
  const first = Math.max(...numbers) + 1;
  const shifted = fc.tuple(fc.integer({ min: first, max: first + 100 }), fc.uint8Array())
    .map(([number, value]) => lenField(number, value));
  return fc.array(shifted, { maxLength: 5 }).map(concat);
}
