import { assertEquals } from "@std/assert";
import { conditionsFrom, no, timestamp, yes } from "./conditions.ts";

Deno.test("conditionsFrom() moves lastTransitionTime only when the status flips", () => {
  const first = conditionsFrom([no("Ready", "Waiting", "w")], undefined, { now: 0, generation: 1 });
  const same = conditionsFrom([no("Ready", "Other", "o")], first, { now: 60_000, generation: 2 });
  const flip = conditionsFrom([yes("Ready", "Ready", "r")], same, { now: 90_000, generation: 2 });
  assertEquals(same[0]?.lastTransitionTime, timestamp(0));
  assertEquals(same[0]?.observedGeneration, 2);
  assertEquals(flip[0]?.lastTransitionTime, "1970-01-01T00:01:30Z");
});
