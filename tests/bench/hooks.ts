/**
 * P1, P2 and P4: PostTranslateModify over gRPC, against extension servers in Go.
 * One client calls all servers in turns, one call at a time, as Envoy Gateway does.
 *
 * @module
 */
import { join } from "node:path";
import { TestClient } from "../../extension/testdata/client.ts";
import { run } from "../testbed/command.ts";
import type { BenchOptions } from "./bench.ts";
import { Child, denoCommand } from "./child.ts";
import type { Figure, Goal, Outcome } from "./figures.ts";
import { editsOf, translateRequest } from "./hook_request.ts";
import type { HeapReading } from "./hook_server.ts";
import { median, quantile, ratioOf, slope } from "./stats.ts";

interface Case {
  readonly id: string;
  readonly clusters: number;
  readonly ours: number;
  readonly rounds: number;
  /** By the mode of the reference server. */
  readonly goals: Readonly<Record<string, Goal>>;
}

const SMALL = {
  decode: { good: 0.5, ahead: 0.2, of: "ratio" },
  renumber: { good: 3, ahead: 1.5, of: "ratio" },
} satisfies Record<string, Goal>;

const CASES: readonly Case[] = [
  { id: "P1", clusters: 1000, ours: 10, rounds: 5, goals: SMALL },
  { id: "P1", clusters: 5000, ours: 10, rounds: 3, goals: SMALL },
  {
    id: "P2",
    clusters: 5000,
    ours: 500,
    rounds: 3,
    goals: { decode: { good: 0.8, ahead: 0.4, of: "ratio" } },
  },
];

/** Warmed up by rounds that count for nothing, then 30 calls in each turn. */
const CALLS = 30, WARM_UP = 10;

/** All cases, one after the other. */
export async function measure(options: BenchOptions): Promise<Outcome> {
  const dir = await Deno.makeTempDir({ prefix: "tailscale-gateway-bench-" });
  try {
    const figures: Figure[] = [];
    for (const one of CASES) figures.push(...await measureCase(one, options, dir));
    const skipped = options.refserver ? [] : [
      { id: "P1, P2", why: "without the Go reference, so without ratios" },
    ];
    return { figures: [...figures, await heapGrowth(options, dir)], skipped };
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

type Results = Readonly<Record<string, { readonly p50: number[]; readonly answerBytes: number }>>;

async function measureCase(one: Case, options: BenchOptions, dir: string): Promise<Figure[]> {
  const { clusters, ours, goals, id } = one;
  const files = await writeFiles(dir, clusters, ours);
  await using server = new Child(denoCommand("hook_server.ts", { args: [files.edits] }));
  const port = Number(await server.line());
  const what = `PostTranslateModify p50, ${ours} of ${clusters} clusters ours`;
  const { refserver } = options;
  if (!refserver) {
    const p50 = await callAlone(port, await Deno.readFile(files.request));
    return [{ id, what, unit: "ms", ours: p50 }];
  }
  const results = await callInTurns(refserver, { one, files, port });
  const mine = results.ours?.p50 ?? [];
  return Object.entries(goals).map(([mode, goal]) => {
    const theirs = results[mode]?.p50 ?? [];
    return {
      id,
      what,
      unit: "ms",
      ours: median(mine),
      reference: { what: `Go, ${mode}`, value: median(theirs) },
      ratio: ratioOf(mine, theirs),
      goal,
    };
  });
}

interface Files {
  readonly request: string;
  readonly edits: string;
}

async function writeFiles(dir: string, clusters: number, ours: number): Promise<Files> {
  const files = { request: join(dir, "request.bin"), edits: join(dir, "edits.json") };
  await Deno.writeFile(files.request, await translateRequest(clusters));
  await Deno.writeTextFile(files.edits, JSON.stringify(editsOf(ours, clusters)));
  return files;
}

async function callInTurns(
  refserver: string,
  { one, files, port }: { one: Case; files: Files; port: number },
): Promise<Results> {
  await using servers = new AsyncDisposableStack();
  const targets = [`ours=127.0.0.1:${port}`];
  for (const mode of Object.keys(one.goals)) {
    const flags = ["-mode", mode, "-edits", files.edits];
    const server = servers.use(new Child([refserver, "serve", ...flags]));
    targets.push(`${mode}=127.0.0.1:${await server.line()}`);
  }
  const flags = `-rounds ${one.rounds} -calls ${CALLS} -warmup ${WARM_UP} -equal ours,decode`;
  const out = await run(
    [refserver, "call", "-request", files.request, ...flags.split(" "), ...targets],
    { timeoutMs: 300_000 },
  );
  return JSON.parse(out);
}

/** Without Go: a client of our own, in this process. */
async function callAlone(port: number, request: Uint8Array): Promise<number> {
  const client = new TestClient(port);
  const times: number[] = [];
  for (let i = 0; i < WARM_UP + CALLS; i++) {
    const start = performance.now();
    await client.call("PostTranslateModify", request);
    if (i >= WARM_UP) times.push(performance.now() - start);
  }
  client.close();
  return quantile(times, 0.5);
}

/** P4: what stays in memory of each call. */
async function heapGrowth({ full }: BenchOptions, dir: string): Promise<Figure> {
  const calls = full ? 10_000 : 3_000, steps = 10;
  const files = await writeFiles(dir, 100, 10);
  const command = denoCommand("hook_server.ts", {
    args: [files.edits],
    v8Flags: ["--expose-gc"],
  });
  await using server = new Child(command);
  const client = new TestClient(Number(await server.line()));
  const request = await Deno.readFile(files.request);
  const points: [number, number][] = [];
  // The first step warms up.
  for (let step = 0; step <= steps; step++) {
    for (let i = 0; i < calls / steps; i++) await client.call("PostTranslateModify", request);
    if (step === 0) continue;
    const { heap, external } = await server.ask<HeapReading>("heap");
    points.push([step * calls / steps, heap + external]);
  }
  client.close();
  return {
    id: "P4",
    what: `heap growth per call, over ${calls} calls`,
    unit: "bytes",
    ours: Math.max(0, slope(points)),
    goal: { good: 1024, ahead: 10, of: "ours" },
  };
}
