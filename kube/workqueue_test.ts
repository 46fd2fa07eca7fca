import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { FakeClock } from "../core/clock_fake.ts";
import { QueueClosed, WorkQueue } from "./workqueue.ts";

const never = new AbortController().signal;

function rig() {
  const clock = new FakeClock();
  return { clock, queue: new WorkQueue({ clock, random: () => 1 }) };
}

/** All keys that are ready now, each done at once. */
async function drain(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (true) {
    const abort = new AbortController();
    const next = queue.next(abort.signal);
    abort.abort();
    const key = await next.catch(() => undefined);
    if (key === undefined) return keys;
    keys.push(key);
    queue.done(key);
  }
}

Deno.test("WorkQueue holds a key once, however often it is added", async () => {
  const { queue } = rig();
  for (const key of ["a", "b", "a", "a"]) queue.add(key);
  assertEquals(queue.length, 2);
  assertEquals(await drain(queue), ["a", "b"]);
});

Deno.test("WorkQueue gives a user's edit before ten thousand relisted keys", async () => {
  const { queue } = rig();
  for (let i = 0; i < 10_000; i++) queue.add(`relisted/${i}`, { priority: -100 });
  queue.add("apps/edited");
  assertEquals(await queue.next(never), "apps/edited");
});

Deno.test("WorkQueue raises a waiting key to the highest priority it was added with", async () => {
  const { queue } = rig();
  queue.add("a", { priority: -100 });
  queue.add("b", { priority: -100 });
  queue.add("b");
  queue.add("b", { priority: -100 });
  assertEquals(await drain(queue), ["b", "a"]);
});

Deno.test("WorkQueue keeps the earliest of several times", async () => {
  const { queue, clock } = rig();
  queue.add("a", { afterMs: 5_000 });
  queue.add("a", { afterMs: 1_000 });
  queue.add("a", { afterMs: 9_000 });
  assertEquals(await drain(queue), []);
  clock.advance(1_000);
  assertEquals(await drain(queue), ["a"]);
  clock.advance(10_000);
  assertEquals(await drain(queue), []);
});

Deno.test("WorkQueue wakes who waits when a delayed key's time comes", async () => {
  const { queue, clock } = rig();
  const next = queue.next(never);
  queue.add("late", { afterMs: 2_000 });
  queue.add("soon", { afterMs: 1_000 });
  assertEquals(clock.pending, 1);
  clock.advance(1_000);
  assertEquals(await next, "soon");
  assertEquals(clock.pending, 0, "no timer while nobody waits");
});

Deno.test("WorkQueue never gives a key to two at once, and gives it again after done", async () => {
  const { queue } = rig();
  queue.add("a");
  assertEquals(await queue.next(never), "a");
  queue.add("a");
  queue.add("b");
  assertEquals(await queue.next(never), "b");
  assertEquals([queue.length, queue.inFlight], [1, 2]);
  queue.done("a");
  assertEquals(await queue.next(never), "a");
});

Deno.test("WorkQueue backs off per key, capped, until it is told to forget", async () => {
  const clock = new FakeClock();
  const backoff = { baseMs: 100, maxMs: 1_000 };
  const queue = new WorkQueue({ clock, backoff, random: () => 1 });
  const waits: number[] = [];
  queue.add("a");
  for (let i = 0; i < 6; i++) {
    await queue.next(never);
    waits.push(queue.retry("a"));
    queue.done("a");
    clock.advance(waits.at(-1)!);
  }
  assertEquals(waits, [100, 200, 400, 800, 1_000, 1_000]);
  assertEquals(queue.retry("other"), 100);
  queue.forget("a");
  assertEquals(queue.failures("a"), 0);
  assertEquals(queue.retry("a"), 100);
});

Deno.test("WorkQueue waits for at least as long as a server asks", () => {
  const { queue } = rig();
  assertEquals(queue.retry("a", 37_000), 37_000);
});

Deno.test("WorkQueue retries a key at the priority it had, and an edit ends its wait", async () => {
  const { queue } = rig();
  queue.add("a", { priority: -100 });
  await queue.next(never);
  queue.retry("a");
  queue.done("a");
  assertEquals(await drain(queue), []);
  queue.add("b", { priority: -50 });
  queue.add("a");
  assertEquals(await drain(queue), ["a", "b"]);
});

Deno.test("next() rejects when its signal aborts, and takes no key with it", async () => {
  const { queue, clock } = rig();
  const abort = new AbortController();
  const next = queue.next(abort.signal);
  queue.add("a", { afterMs: 1_000 });
  abort.abort(new Error("stop"));
  await assertRejects(() => next, Error, "stop");
  assertEquals(clock.pending, 0);
  clock.advance(1_000);
  assertEquals(await queue.next(never), "a");
  await assertRejects(() => queue.next(abort.signal), Error, "stop");
});

Deno.test("close() rejects who waits, and nothing is added any more", async () => {
  const { queue } = rig();
  const next = queue.next(never);
  queue.close();
  await assertRejects(() => next, QueueClosed);
  queue.add("a");
  assertEquals(queue.length, 0);
  await assertRejects(() => queue.next(never), QueueClosed);
});

Deno.test("figure 13: WorkQueue does not stretch waits when the clock is set back", async () => {
  let offset = 0;
  const fake = new FakeClock();
  const setTimer = fake.setTimer.bind(fake);
  const queue = new WorkQueue({ clock: { now: () => fake.now() + offset, setTimer } });
  queue.add("a", { afterMs: 5_000 });
  const next = queue.next(never);
  offset = -3_600_000;
  fake.advance(5_000);
  queue.add("b", { afterMs: 1 });
  fake.advance(5_000);
  assert(["a", "b"].includes(await next));
  assertEquals(queue.length, 1);
});

Deno.test("add() refuses a delay that is not a number", () => {
  assertThrows(() => rig().queue.add("a", { afterMs: NaN }), RangeError, '"a"');
});

Deno.test("WorkQueue agrees with a plain model for any commands", async () => {
  const command = fc.oneof(
    fc.record({
      do: fc.constant("add" as const),
      key: fc.constantFrom("a", "b", "c", "d"),
      priority: fc.integer({ min: -2, max: 2 }),
      afterMs: fc.constantFrom(0, 0, 10, 20),
    }),
    fc.record({ do: fc.constant("next" as const) }),
    fc.record({ do: fc.constant("done" as const), key: fc.constantFrom("a", "b", "c", "d") }),
    fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(5, 10, 30) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 60 }), async (commands) => {
      const { queue, clock } = rig();
      const waiting = new Map<string, { priority: number; dueAt: number }>();
      const again = new Map<string, { priority: number; dueAt: number }>();
      const inFlight = new Set<string>();
      const put = (map: typeof waiting, key: string, priority: number, dueAt: number) => {
        const old = map.get(key) ?? { priority, dueAt };
        const later = Math.min(old.dueAt, dueAt);
        map.set(key, { priority: Math.max(old.priority, priority), dueAt: later });
      };
      for (const c of commands) {
        if (c.do === "add") {
          queue.add(c.key, c);
          put(inFlight.has(c.key) ? again : waiting, c.key, c.priority, clock.now() + c.afterMs);
        } else if (c.do === "advance") clock.advance(c.ms);
        else if (c.do === "done") {
          queue.done(c.key);
          const back = again.get(c.key);
          if (inFlight.delete(c.key) && back) waiting.set(c.key, back);
          again.delete(c.key);
        } else {
          const abort = new AbortController();
          const next = queue.next(abort.signal);
          abort.abort();
          const key = await next.catch(() => undefined);
          const due = [...waiting].filter(([, w]) => w.dueAt <= clock.now());
          const best = Math.max(...due.map(([, w]) => w.priority));
          assertEquals(key === undefined, due.length === 0);
          if (key === undefined) continue;
          assertEquals(waiting.get(key)?.priority, best);
          waiting.delete(key);
          inFlight.add(key);
        }
        assertEquals(queue.length, waiting.size + again.size);
        assertEquals(queue.inFlight, inFlight.size);
      }
    }),
  );
});
