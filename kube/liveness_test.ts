import { assertEquals } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { Liveness } from "./liveness.ts";

function rig() {
  const clock = new FakeClock();
  const probes: PromiseWithResolvers<boolean>[] = [];
  let dead = 0;
  const liveness = new Liveness({
    clock,
    probe: () => {
      const probe = Promise.withResolvers<boolean>();
      probes.push(probe);
      return probe.promise;
    },
    onDead: () => dead++,
  });
  const answer = async (alive: boolean) => {
    probes.at(-1)!.resolve(alive);
    await probes.at(-1)!.promise;
  };
  return { clock, probes, liveness, answer, deaths: () => dead };
}

Deno.test("Liveness asks once for many who suspect at once", async () => {
  const { liveness, probes, answer, deaths } = rig();
  for (let i = 0; i < 20; i++) liveness.suspect();
  assertEquals(probes.length, 1);
  await answer(true);
  liveness.suspect();
  assertEquals([probes.length, deaths()], [2, 0]);
});

Deno.test("Liveness does not ask while answers come", () => {
  const { liveness, probes, clock } = rig();
  liveness.heard();
  clock.advance(14_999);
  liveness.suspect();
  assertEquals(probes.length, 0);
  clock.advance(1);
  liveness.suspect();
  assertEquals(probes.length, 1);
});

Deno.test("Liveness tells of death when no sign of life comes", async () => {
  const { liveness, answer, deaths } = rig();
  liveness.suspect();
  await answer(false);
  assertEquals(deaths(), 1);
});

Deno.test("figure 13: Liveness asks when the clock was set back", () => {
  const { liveness, probes, clock } = rig();
  clock.advance(1_000_000);
  liveness.heard();
  const past = new FakeClock(clock.now() - 3_600_000);
  clock.now = () => past.now();
  liveness.suspect();
  assertEquals(probes.length, 1);
});
