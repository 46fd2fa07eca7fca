/**
 * Our extension server as a process: `hook_server.ts EDITS` serves a snapshot made
 * of the edits in that JSON file, prints its port, and answers each line of stdin
 * with its memory after a garbage collection.
 *
 * @module
 */
import { ExtensionServer } from "../../extension/server.ts";
import { buildSnapshot } from "../../extension/snapshot.ts";
import { systemClock } from "../../telemetry/clock.ts";
import { answerLines } from "./child.ts";
import type { Edit } from "./hook_request.ts";

/** Bytes in use: V8's heap, and what is outside of it on its behalf. */
export interface HeapReading {
  readonly heap: number;
  readonly external: number;
}

async function readHeap(): Promise<HeapReading> {
  const { gc } = globalThis as { gc?: () => void };
  if (!gc) throw new Error("run with --v8-flags=--expose-gc");
  for (let i = 0; i < 3; i++) {
    gc();
    // Finalizers run in between.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = Deno.memoryUsage();
  return { heap: heapUsed, external };
}

if (import.meta.main) {
  const edits: Edit[] = JSON.parse(await Deno.readTextFile(Deno.args[0] ?? ""));
  const snapshot = buildSnapshot({
    clusters: edits.map(({ cluster, ...upstream }) => ({
      cluster,
      backend: { protocol: "HTTP", priorities: [[upstream]] },
      gateways: ["apps/edge"],
    })),
  });
  const server = new ExtensionServer({
    snapshot: () => snapshot,
    clock: systemClock,
    log: { info() {}, error: console.error },
  });
  console.log(await server.start("127.0.0.1:0"));
  await answerLines(readHeap);
  await server.stop(1_000);
}
