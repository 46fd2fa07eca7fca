import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { PATIENCE_MS, RevisionGate } from "./revision_gate.ts";

function setUp({ leads = false } = {}) {
  const clock = new FakeClock();
  const gate = new RevisionGate({ clock, leads: () => leads });
  gate.rendered(new Map([["apps/edge", "a"]]));
  const behind = (revision: string) => gate.behind([{ gateway: "apps/edge", revision }]);
  return { clock, gate, behind };
}

Deno.test("RevisionGate lets pass what is rendered, or was before", () => {
  const { gate, behind } = setUp();
  gate.rendered(new Map([["apps/edge", "b"]]));
  assertEquals([behind("b.0"), behind("b.3"), behind("a.0")], [undefined, undefined, undefined]);
});

Deno.test("RevisionGate holds back what was never rendered, until it is", () => {
  const { gate, behind } = setUp();
  assertStringIncludes(behind("b.0") ?? "", "revision b.0 of Gateway apps/edge");
  gate.rendered(new Map([["apps/edge", "b"]]));
  assertEquals(behind("b.0"), undefined);
});

Deno.test("RevisionGate holds nobody back for longer than Envoy Gateway tries", () => {
  const { clock, behind } = setUp();
  const attempts = [0, 80, 160, 320]; // each wait at its shortest
  const held = attempts.map((wait) => {
    clock.advance(wait);
    return behind("b.0") !== undefined;
  });
  assertEquals(held, [true, true, true, false]);
  clock.advance(60_000);
  assertEquals(behind("b.1"), undefined, "a repeat is not held back anew");
});

Deno.test("RevisionGate holds nobody back because a clock was set back", () => {
  const { clock, behind } = setUp();
  assert(behind("b.0"));
  clock.advance(-3_600_000);
  assert(behind("b.0"));
  clock.advance(PATIENCE_MS);
  assertEquals(behind("b.0"), undefined);
});

Deno.test("RevisionGate never holds back a call of the leader's", () => {
  assertEquals(setUp({ leads: true }).behind("b.0"), undefined);
});
