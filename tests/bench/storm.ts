/**
 * P7, P8, P13, P17: many objects at once, on a simulated cluster whose API server
 * takes 5 ms to answer; then the operator anew, when nothing is left to do.
 *
 * @module
 */
import type { BenchOptions } from "./bench.ts";
import { BenchCluster, endpointsObject } from "./cluster.ts";
import type { Figure, Outcome } from "./figures.ts";
import type { OperatorUsage } from "./operator_process.ts";

const LATENCY_MS = 5;
/** How long the operator is watched after a start for what it should not write. */
const WATCH_MS = 3_000;

/** One storm, then one start. */
export async function measure({ full }: BenchOptions): Promise<Outcome> {
  const count = full ? 1000 : 200;
  await using cluster = await BenchCluster.start();
  const figures = await storm(cluster, count);
  return { figures: [...figures, ...await restart(cluster, count)] };
}

async function storm(cluster: BenchCluster, count: number): Promise<Figure[]> {
  await using operator = await cluster.startOperator(LATENCY_MS);
  const idle = await operator.ask<OperatorUsage>("usage");
  const start = performance.now();
  await cluster.create(Array.from({ length: count }, (_, i) => endpointsObject(i)));
  await cluster.ready(count);
  const seconds = (performance.now() - start) / 1000;
  const after = await operator.ask<OperatorUsage>("usage");
  return stormFigures({ count, seconds, idle, after });
}

interface Storm {
  readonly count: number;
  /** From the first object to the last one that is ready. */
  readonly seconds: number;
  readonly idle: OperatorUsage;
  readonly after: OperatorUsage;
}

function stormFigures({ count, seconds, idle, after }: Storm): Figure[] {
  const share = count / 1000;
  return [
    {
      id: "P7",
      what: `storm: ${count} TailscaleEndpoints at once, all Ready`,
      unit: "s",
      ours: seconds,
      goal: { good: 30 * share, ahead: 6 * share, of: "ours" },
    },
    {
      id: "P7",
      what: "writes for each of them",
      unit: "",
      ours: (after.writes - idle.writes) / count,
    },
    {
      id: "P17",
      what: "longest stall of the event loop in the storm",
      unit: "ms",
      ours: after.stallMs,
      goal: { good: 200, ahead: 50, of: "ours" },
    },
    memory("one tailnet and no endpoints", idle, { good: 150, ahead: 90 }),
    memory(`after the storm of ${count}`, after, { good: 200, ahead: 110 }),
  ];
}

function memory(
  when: string,
  { rss }: OperatorUsage,
  limits: { good: number; ahead: number },
): Figure {
  const goal = { ...limits, of: "ours" } as const;
  return { id: "P13", what: `memory (RSS), ${when}`, unit: "MB", ours: rss / 1e6, goal };
}

async function restart(cluster: BenchCluster, count: number): Promise<Figure[]> {
  const start = performance.now();
  await using operator = await cluster.startOperator(LATENCY_MS);
  const seconds = (performance.now() - start) / 1000;
  await new Promise((resolve) => setTimeout(resolve, WATCH_MS));
  const { writes } = await operator.ask<OperatorUsage>("usage");
  return [
    {
      id: "P8",
      what: `writes after a start with ${count} objects unchanged`,
      unit: "",
      ours: writes,
      goal: { good: 0, ahead: 0, of: "ours" },
    },
    {
      id: "P12",
      what: `start to serving, deno run, ${count} objects`,
      unit: "s",
      ours: seconds,
      goal: { good: 3, ahead: 1, of: "ours" },
    },
  ];
}
