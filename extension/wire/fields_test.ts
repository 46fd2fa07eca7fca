import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { anyField, anyMessage } from "../testdata/messages.ts";
import { FieldCursor, findLast, MalformedMessageError, stringField } from "./fields.ts";
import { concat, lenField, varint } from "./splicer.ts";

function walk(bytes: Uint8Array): { number: number; start: number; end: number }[] {
  const field = new FieldCursor(bytes);
  const seen = [];
  while (field.next()) seen.push({ number: field.number, start: field.start, end: field.end });
  return seen;
}

Deno.test("FieldCursor finds each field of a message, end to end", () => {
  fc.assert(fc.property(fc.array(anyField, { maxLength: 8 }), (fields) => {
    const bytes = concat(fields);
    const seen = walk(bytes);
    assertEquals(seen.length, fields.length);
    let at = 0;
    for (const [i, { start, end }] of seen.entries()) {
      assertEquals([start, end], [at, at + fields[i]!.length]);
      at = end;
    }
    assertEquals(at, bytes.length);
  }));
});

Deno.test("FieldCursor ends or throws MalformedMessageError on any bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        walk(bytes);
      } catch (error) {
        assert(error instanceof MalformedMessageError);
        assert(error.offset >= 0 && error.offset <= bytes.length);
      }
    }),
    { numRuns: 2000 },
  );
});

Deno.test("FieldCursor throws on a message that was cut inside a field", () => {
  fc.assert(fc.property(anyMessage, fc.nat(), (bytes, seed) => {
    const ends = new Set([0, ...walk(bytes).map((f) => f.end)]);
    const cut = seed % (bytes.length + 1);
    if (ends.has(cut)) walk(bytes.subarray(0, cut));
    else assertThrows(() => walk(bytes.subarray(0, cut)), MalformedMessageError);
  }));
});

Deno.test("MalformedMessageError says what is wrong and where", () => {
  const cases: [string, number[], string, number][] = [
    ["truncated length", [0x08, 0x01, 0x12, 0x05, 0x61], "field runs past the end", 2],
    ["field number 0", [0x02, 0x00], "field number 0", 0],
    ["wire type 7", [0x0f], "wire type 7", 0],
    ["stray group end", [0x0c], "end of a group that never began", 0],
    ["open group", [0x0b, 0x08, 0x01], "group without end", 1],
    ["other group's end", [0x0b, 0x14], "end of group 2 in 1", 1],
    ["endless varint", [0x08, ...Array(11).fill(0xff)], "unterminated varint", 0],
    ["length over 32 bits", [0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f], "bad tag or length", 0],
  ];
  for (const [what, bytes, problem, offset] of cases) {
    const error = assertThrows(() => walk(new Uint8Array(bytes)), MalformedMessageError);
    assertEquals([what, error.problem, error.offset], [what, problem, offset]);
    assert(error.message.includes(problem));
  }
});

Deno.test("FieldCursor refuses groups that are nested without end", () => {
  const bytes = new Uint8Array(10_000).fill(0x0b);
  assertThrows(() => walk(bytes), MalformedMessageError, "nested too deep");
});

Deno.test("stringField reads the last of a field that is given twice, and nothing as empty", () => {
  const text = (value: string) => new TextEncoder().encode(value);
  const bytes = concat([lenField(1, text("a")), lenField(2, text("b")), lenField(1, text("ü/c"))]);
  assertEquals(stringField(bytes, 1), "ü/c");
  assertEquals(stringField(bytes, 2), "b");
  assertEquals(stringField(bytes, 3), "");
  assertEquals(findLast(bytes, 3), undefined);
});

Deno.test("stringField does not take a number for a text", () => {
  assertEquals(stringField(concat([varint(1 << 3), varint(7)]), 1), "");
});
