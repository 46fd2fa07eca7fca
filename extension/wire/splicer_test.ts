import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import { anyMessage } from "../testdata/messages.ts";
import { FieldCursor } from "./fields.ts";
import { concat, lenField, lenHeader, Splicer, varint } from "./splicer.ts";

function keepAll(bytes: Uint8Array): Splicer {
  const splicer = new Splicer(bytes);
  const field = new FieldCursor(bytes);
  while (field.next()) splicer.keep(field.start, field.end);
  return splicer;
}

Deno.test("Splicer gives back what is kept, uncopied", () => {
  fc.assert(fc.property(anyMessage, (bytes) => {
    const splicer = keepAll(bytes);
    assertEquals(splicer.length, bytes.length);
    const result = splicer.finish();
    assertEquals(result, bytes);
    if (bytes.length > 0) assertStrictEquals(result.buffer, bytes.buffer);
  }));
});

Deno.test("Splicer joins slices and added bytes in order", () => {
  const source = new Uint8Array([1, 2, 3, 4, 5, 6]);
  const splicer = new Splicer(source);
  splicer.keep(4, 6);
  splicer.add(new Uint8Array([9]));
  splicer.keep(0, 1);
  splicer.keep(1, 3);
  splicer.add(new Uint8Array());
  assertEquals(splicer.length, 6);
  assertEquals([...splicer.finish()], [5, 6, 9, 1, 2, 3]);
  assertEquals([...source], [1, 2, 3, 4, 5, 6]);
});

Deno.test("Splicer.keepAs changes the field number and nothing else", () => {
  const fields = fc.array(fc.tuple(fc.integer({ min: 2, max: 40 }), fc.uint8Array()));
  fc.assert(fc.property(fields, fc.boolean(), (list, overlong) => {
    const encode = (shift: number) =>
      concat(list.map(([number, value]) => lenField(number - shift, value)));
    const source = overlong
      ? concat(list.map(([n, v]) => concat([longTag(n), varint(v.length), v])))
      : encode(0);
    const before = source.slice();
    const splicer = new Splicer(source);
    const field = new FieldCursor(source);
    while (field.next()) splicer.keepAs(field.number - 1, field);
    assertEquals(splicer.finish(), encode(1));
    assertEquals(source, before);
  }));
});

Deno.test("Splicer.addMessage nests messages with their tag, length and patches", () => {
  fc.assert(fc.property(anyMessage, fc.uint8Array({ maxLength: 300 }), (bytes, more) => {
    const source = concat([bytes, lenField(3, more)]);
    const outer = new Splicer(source), inner = new Splicer(source);
    outer.keep(0, bytes.length);
    const field = new FieldCursor(source, bytes.length);
    assert(field.next());
    inner.keepAs(2, field);
    inner.add(new Uint8Array([0x08, 0x01]));
    outer.addMessage(7, inner);
    const nested = concat([lenField(2, more), new Uint8Array([0x08, 0x01])]);
    assertEquals(outer.finish(), concat([bytes, lenField(7, nested)]));
  }));
});

Deno.test("varint and lenHeader encode as protobuf does", () => {
  assertEquals([...varint(0)], [0]);
  assertEquals([...varint(300)], [0xac, 0x02]);
  assertEquals([...varint(2 ** 32)], [0x80, 0x80, 0x80, 0x80, 0x10]);
  assertEquals([...lenHeader(33, 1)], [0x8a, 0x02, 0x01]);
});

/** A LEN tag with a needless second byte. */
function longTag(number: number): Uint8Array {
  const tag = varint(number * 8 + 2);
  return new Uint8Array([...tag.subarray(0, -1), tag.at(-1)! | 0x80, 0]);
}
