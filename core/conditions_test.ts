import { assert, assertEquals } from "@std/assert";
import { conditionsFrom, no, timestamp, yes } from "./conditions.ts";

Deno.test("conditionsFrom() moves lastTransitionTime only when the status flips", () => {
  const first = conditionsFrom([no("Ready", "Waiting", "w")], undefined, { now: 0, generation: 1 });
  const same = conditionsFrom([no("Ready", "Other", "o")], first, { now: 60_000, generation: 2 });
  const flip = conditionsFrom([yes("Ready", "Ready", "r")], same, { now: 90_000, generation: 2 });
  assertEquals(same[0]?.lastTransitionTime, timestamp(0));
  assertEquals(same[0]?.observedGeneration, 2);
  assertEquals(flip[0]?.lastTransitionTime, "1970-01-01T00:01:30Z");
});

Deno.test("conditionsFrom() cuts a message that the API server would refuse", () => {
  const [condition] = conditionsFrom([no("Ready", "Waiting", "x".repeat(40_000))], undefined, {
    now: 0,
    generation: undefined,
  });
  assert((condition?.message.length ?? 0) <= 32_768);
  assertEquals("observedGeneration" in (condition ?? {}), false);
});

Deno.test("timestamp() is RFC 3339 in whole seconds", () => {
  assertEquals(timestamp(Date.parse("2026-03-01T12:00:00.987Z")), "2026-03-01T12:00:00Z");
});
