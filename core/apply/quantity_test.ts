import { assert, assertEquals, assertFalse } from "@std/assert";
import fc from "fast-check";
import { parseQuantity, sameQuantity } from "./quantity.ts";

Deno.test("sameQuantity() knows the forms that the API server rewrites", () => {
  for (
    const [a, b] of [
      ["1000m", "1"],
      ["0.5", "500m"],
      ["1024Mi", "1Gi"],
      ["0.1Gi", "107374182400m"],
      ["1e3", "1k"],
      ["1E3", "1000"],
      ["1E", "1000P"],
      [1, "1"],
      ["+1.0", "1"],
      [".5", "0.5"],
      ["0", "0Gi"],
      ["1.5n", "2n"],
      ["-500m", "-0.5"],
    ] as const
  ) assert(sameQuantity(a, b), `${a} = ${b}`);
});

Deno.test("sameQuantity() tells different quantities apart", () => {
  for (
    const [a, b] of [["1G", "1Gi"], ["1", "1m"], ["1k", "1K"], ["-1", "1"], ["1", ""]] as const
  ) {
    assertFalse(sameQuantity(a, b), `${a} ≠ ${b}`);
  }
});

Deno.test("parseQuantity() refuses what is no quantity", () => {
  for (const text of ["", "m", "1Kii", "1 Gi", "0x10", "1e9999", "1.2.3", null, {}, NaN]) {
    assertEquals(parseQuantity(text), undefined, String(text));
  }
});

Deno.test("parseQuantity() counts in units of a thousand-millionth", () => {
  fc.assert(fc.property(fc.integer(), (n) => {
    assertEquals(parseQuantity(`${n}m`), BigInt(n) * 1_000_000n);
  }));
});
