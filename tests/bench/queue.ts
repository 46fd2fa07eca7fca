/**
 * P9: keys per second through our work queue, against controller-runtime's.
 *
 * @module
 */
import { run } from "../testbed/command.ts";
import { WorkQueue } from "../../kube/workqueue.ts";
import { systemClock } from "../../telemetry/clock.ts";
import type { BenchOptions } from "./bench.ts";
import type { Outcome } from "./figures.ts";
import { median, ratioOf } from "./stats.ts";

const KEYS = Array.from({ length: 1000 }, (_, i) => `namespace-${i % 10}/object-${i}`);
const ROUNDS = 5, ROUND_MS = 500;

/** Both in turns. */
export async function measure({ queuebench }: BenchOptions): Promise<Outcome> {
  await rate();
  const ours: number[] = [], theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await rate());
    if (queuebench) {
      const out = await run([queuebench, "-rounds", "1", "-duration", `${ROUND_MS}ms`]);
      theirs.push(...JSON.parse(out));
    }
  }
  return {
    figures: [{
      id: "P9",
      what: `queue: ${KEYS.length} keys added, taken, done`,
      unit: "keys/s",
      ours: median(ours),
      ...(theirs.length > 0
        ? {
          reference: { what: "controller-runtime", value: median(theirs) },
          ratio: ratioOf(ours, theirs),
        }
        : {}),
      goal: { good: 0.5, ahead: 1, of: "ratio", better: "higher" },
    }],
  };
}

async function rate(): Promise<number> {
  const queue = new WorkQueue({ clock: systemClock });
  const { signal } = new AbortController();
  const start = performance.now();
  let keys = 0;
  while (performance.now() - start < ROUND_MS) {
    for (const key of KEYS) queue.add(key);
    for (let i = 0; i < KEYS.length; i++) queue.done(await queue.next(signal));
    keys += KEYS.length;
  }
  return keys / (performance.now() - start) * 1000;
}
