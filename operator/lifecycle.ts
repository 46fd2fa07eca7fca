/**
 * The order in which the parts of the operator begin and end.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { HttpServer } from "../telemetry/http.ts";
import type { Log } from "../telemetry/log.ts";
import type { ClusterCache } from "./cache.ts";
import type { Engine } from "./engine.ts";
import type { Lead } from "./leadership.ts";
import type { Terms } from "./terms.ts";
import { aborted, within } from "./waiting.ts";

/** What {@linkcode runToTheEnd} runs. */
export interface Parts {
  /** Asks it to end. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
  readonly cache: Pick<ClusterCache, "run" | "synced">;
  readonly engines: readonly Pick<Engine, "run" | "inFlight" | "close">[];
  /** Lets the replica lead whenever it is its turn. */
  readonly elect: (signal: AbortSignal, lead: Lead) => Promise<void>;
  /** Told when it begins to lead, and when nothing of that goes on any more. */
  readonly terms: Pick<Terms, "began" | "ceased">;
  /** Begins to serve hooks, once they can be answered. */
  readonly serve: (stop: AbortSignal) => Promise<void>;
  /** Takes no new call of a hook, and lets those that run finish. */
  readonly unserve: (graceMs: number) => Promise<void>;
  /** Breaks off calls of Tailscale's API. */
  readonly cut: () => void;
  /** Writes what is still to be written. */
  readonly flush: () => Promise<void>;
  readonly http: HttpServer;
}

// Together well below the 30 s that Kubernetes gives a pod to end.
/** How long running hook calls may take at the end. */
const HOOKS_GRACE_MS = 7_000;
/** How long running reconciles may take, before and after their calls are broken off. */
const RECONCILES_GRACE_MS = 6_000;
const CUT_GRACE_MS = 2_000;
const FLUSH_GRACE_MS = 2_000;
const HTTP_GRACE_MS = 1_000;

/**
 * Follows the API server; once its objects are known, runs the controllers and
 * serves the hooks; ends all of it when the signal aborts or a part fails.
 *
 * @throws what made a part fail.
 */
export async function runToTheEnd(parts: Parts): Promise<void> {
  const { signal, cache, engines, clock } = parts;
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const failures: unknown[] = [];
  const running: Promise<void>[] = [];
  const start = (part: Promise<void>) => {
    running.push(part.catch((error) => {
      failures.push(error);
      stop.abort();
    }));
  };
  start(cache.run(stop.signal));
  await within(cache.synced(), { clock, signal: stop.signal });
  if (!stop.signal.aborted) {
    start(parts.elect(stop.signal, (term) => lead(parts, term)));
    start(parts.serve(stop.signal));
  }
  await aborted(stop.signal);
  signal.removeEventListener("abort", onAbort);
  await end(parts, Promise.all(running));
  for (const engine of engines) engine.close();
  if (failures.length > 0) throw failures[0];
}

/** Acts until the term ends, and leaves nothing unsaid when another replica takes over. */
async function lead(parts: Parts, term: AbortSignal): Promise<void> {
  parts.terms.began();
  await Promise.all(parts.engines.map((engine) => engine.run(term)));
  await flush(parts);
  await parts.terms.ceased();
}

async function flush({ flush, clock, log }: Parts): Promise<void> {
  if (await within(flush(), { clock, ms: FLUSH_GRACE_MS })) return;
  log.warn("not all Events could be written");
}

async function end(parts: Parts, running: Promise<unknown>): Promise<void> {
  await Promise.all([parts.unserve(HOOKS_GRACE_MS), finish(parts, running)]);
  await flush(parts);
  await parts.http.shutdown(HTTP_GRACE_MS);
}

/** Waits for what runs, first patiently. What is left undone, the next start does. */
async function finish(
  { clock, log, engines, cut }: Parts,
  running: Promise<unknown>,
): Promise<void> {
  if (await within(running, { clock, ms: RECONCILES_GRACE_MS })) return;
  cut();
  if (await within(running, { clock, ms: CUT_GRACE_MS })) return;
  const unfinished = engines.reduce((sum, { inFlight }) => sum + inFlight, 0);
  log.warn("ends although some work does not", { unfinished });
}
