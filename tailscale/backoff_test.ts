import { assertEquals } from "@std/assert";
import { backoffMs } from "./backoff.ts";

Deno.test("backoffMs() doubles up to its cap, with half of it jitter", () => {
  const at = (random: number) => [0, 1, 2, 5, 6, 7, 1e6].map((n) => backoffMs(n, () => random));
  assertEquals(at(0), [500, 1_000, 2_000, 16_000, 30_000, 30_000, 30_000]);
  assertEquals(at(1), [1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
});
