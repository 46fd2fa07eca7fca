import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { LineSplitter } from "./lines.ts";

const encode = (text: string) => new TextEncoder().encode(text);

Deno.test("LineSplitter gives the same lines however the bytes are cut", () => {
  const line = fc.string({ unit: "grapheme" }).filter((s) => !/\n/.test(s) && s.trim() !== "");
  fc.assert(fc.property(
    fc.array(line, { maxLength: 8 }),
    fc.array(fc.nat({ max: 200 }), { maxLength: 12 }),
    (lines, cuts) => {
      const bytes = encode(lines.map((l) => l + "\n").join(""));
      const splitter = new LineSplitter(10_000);
      const places = [0, ...cuts.map((c) => Math.min(c, bytes.length)), bytes.length].sort((a, b) =>
        a - b
      );
      const got = places.flatMap((at, i) => splitter.push(bytes.subarray(places[i - 1] ?? 0, at)));
      assertEquals(got, lines);
      assertEquals(splitter.rest(), "");
    },
  ));
});

Deno.test("LineSplitter passes over blank lines and keeps what follows the last newline", () => {
  const splitter = new LineSplitter(100);
  assertEquals(splitter.push(encode("a\n\n \r\nb\nc")), ["a", "b"]);
  assertEquals(splitter.rest(), "c");
});

Deno.test("LineSplitter refuses a line without end", () => {
  const splitter = new LineSplitter(8);
  splitter.push(encode("12345678"));
  assertThrows(() => splitter.push(encode("9")), RangeError, "longer than 8");
});
