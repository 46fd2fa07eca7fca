import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { backoffMs } from "./backoff.ts";

const limits = { baseMs: 100, maxMs: 5_000 };

Deno.test("backoffMs() doubles up to its cap", () => {
  const waits = [1, 2, 3, 7, 1000].map((failures) => backoffMs(limits, failures, 1));
  assertEquals(waits, [100, 200, 400, 5_000, 5_000]);
});

Deno.test("backoffMs() stays between half and all of the wait", () => {
  fc.assert(
    fc.property(fc.nat(100), fc.double({ min: 0, max: 0.999, noNaN: true }), (n, random) => {
      const full = backoffMs(limits, n, 1);
      const wait = backoffMs(limits, n, random);
      assert(wait >= Math.floor(full / 2) && wait <= full);
    }),
  );
});
