import { assert, assertEquals, assertLessOrEqual, assertThrows } from "@std/assert";
import { NotLeaderError } from "./errors.ts";
import { LEASE_TIMING } from "./lease.ts";
import { Electorate, type Voter } from "./testing/electorate.ts";

const HOUR = 3_600_000;
const { durationMs, marginMs } = LEASE_TIMING;

/** Runs a test among so many processes, and ends all of them. */
async function among(
  count: number,
  test: (electorate: Electorate, voters: Voter[]) => Promise<void>,
): Promise<void> {
  const electorate = new Electorate();
  const voters = Array.from({ length: count }, (_, i) => electorate.start(`pod-${i}`));
  try {
    await test(electorate, voters);
  } finally {
    for (const voter of voters) await voter.bury(electorate);
    assertEquals(electorate.clock.pending, 0);
  }
}

/** Waits until one leads, and gives it and another one. */
async function elected(electorate: Electorate, voters: Voter[]): Promise<[Voter, Voter]> {
  await electorate.until("one leads", () => voters.some(({ writes }) => writes));
  await electorate.pass(6_000);
  const leader = voters.find(({ writes }) => writes)!;
  return [leader, voters.find((voter) => voter !== leader)!];
}

Deno.test("of three processes one leads, and the Lease says which, since when and how long", () =>
  among(3, async (electorate, voters) => {
    const [leader] = await elected(electorate, voters);
    await electorate.pass(60_000);
    assertEquals(voters.filter(({ writes }) => writes), [leader]);
    const { spec } = electorate.lease!;
    assertEquals(spec?.holderIdentity, leader.name);
    assertEquals([spec?.leaseDurationSeconds, spec?.leaseTransitions], [15, 0]);
    assert(/^\d{4}-.*\.\d{6}Z$/.test(spec?.renewTime ?? ""), spec?.renewTime);
    for (const voter of voters) assertEquals(voter.elector.holder, leader.name);
  }));

Deno.test("at rest a leader sends 720 requests an hour", () =>
  among(1, async (electorate) => {
    await electorate.pass(6_000);
    const before = electorate.api.requests.length;
    await electorate.pass(600_000, { stepMs: 2_500 });
    assertLessOrEqual(electorate.api.requests.length - before, 121);
  }));

Deno.test("figure 15: a leader that is killed is followed within its lease (15 s) and 2 s", () =>
  among(2, async (electorate, voters) => {
    const [leader, other] = await elected(electorate, voters);
    leader.kill();
    const took = await electorate.until("the other leads", () => other.writes);
    assertLessOrEqual(took, durationMs + 2_000);
    assertEquals(electorate.lease?.spec?.leaseTransitions, 1);
  }));

Deno.test("figure 15: a leader that was paused for 20 s and wakes up writes nothing", () =>
  among(2, async (electorate, voters) => {
    const [leader, other] = await elected(electorate, voters);
    leader.clock.pause();
    await electorate.pass(20_000);
    assert(other.writes);
    leader.clock.resume();
    // At this moment it has heard nothing yet.
    assert(leader.acts);
    assertThrows(() => leader.elector.fence("PATCH a"), NotLeaderError, "PATCH a: not sent");
    await electorate.pass(5_000);
    assertEquals([leader.acts, leader.writes, other.writes], [false, false, true]);
  }));

Deno.test("a leader that is alone and was paused leads on once it has renewed its Lease", () =>
  among(1, async (electorate, [leader]) => {
    await elected(electorate, [leader!]);
    leader!.clock.pause();
    await electorate.pass(60_000);
    leader!.clock.resume();
    assert(!leader!.writes);
    await electorate.pass(5_000);
    assert(leader!.writes);
    assertEquals(electorate.lease?.spec?.leaseTransitions, 0);
  }));

Deno.test("figure 17: a leader that ends gives up its lease, and is followed within 2 s", () =>
  among(2, async (electorate, voters) => {
    const [leader, other] = await elected(electorate, voters);
    await leader.stop(electorate);
    assertLessOrEqual(await electorate.until("the other leads", () => other.writes), 2_000);
  }));

Deno.test("a leader that is cut off from the API server stops in time, and not the process", () =>
  among(2, async (electorate, voters) => {
    const [leader, other] = await elected(electorate, voters);
    leader.cutOff = true;
    const stopped = await electorate.until("it stops", () => !leader.acts);
    assertLessOrEqual(stopped, durationMs - marginMs);
    await electorate.until("the other leads", () => other.writes);
    leader.cutOff = false;
    other.kill();
    await electorate.until("it leads again", () => leader.writes);
  }));

for (const [what, by] of [["ahead", HOUR], ["back", -HOUR]] as const) {
  Deno.test(`figure 13: clocks that are set ${what} by an hour change no leader`, () =>
    among(2, async (electorate, voters) => {
      const [leader, other] = await elected(electorate, voters);
      for (const voter of [other, leader]) {
        voter.clock.offset = by;
        await electorate.pass(30_000);
        assertEquals([leader.writes, other.writes], [true, false]);
      }
      assertEquals(electorate.lease?.spec?.leaseTransitions, 0);
      leader.kill();
      assertLessOrEqual(
        await electorate.until("the other leads", () => other.writes),
        durationMs + 2_000,
      );
    }));
}

Deno.test("a Lease that somebody labels, edits or deletes does not make two leaders", () =>
  among(2, async (electorate, voters) => {
    const [leader] = await elected(electorate, voters);
    const path = "http://api/apis/coordination.k8s.io/v1/namespaces/default/leases/test";
    const send = (method: string, body?: unknown) =>
      electorate.api.handle(
        new Request(path, {
          method,
          headers: { "content-type": "application/merge-patch+json" },
          ...(body ? { body: JSON.stringify(body) } : {}),
        }),
      ).then((response) => response.text());
    await send("PATCH", { metadata: { labels: { team: "a" } } });
    await electorate.pass(10_000);
    assertEquals(voters.filter(({ writes }) => writes), [leader]);
    await send("DELETE");
    for (let i = 0; i < 40; i++) {
      await electorate.pass(500);
      assert(voters.filter(({ writes }) => writes).length <= 1);
    }
    assertEquals(voters.filter(({ writes }) => writes).length, 1);
  }));

Deno.test("an API server that answers nothing but errors makes no leader, and no hot loop", () =>
  among(2, async (electorate, voters) => {
    electorate.api.failNext({ times: Infinity, response: { status: 503 } });
    await electorate.pass(60_000);
    assert(!voters.some(({ writes }) => writes));
    assertLessOrEqual(electorate.api.requests.length, 2 * 61);
    electorate.api.clearFaults();
    await electorate.until("one leads", () => voters.some(({ writes }) => writes));
  }));
