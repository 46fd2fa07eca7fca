/**
 * Runs the operator until the process is asked to end.
 *
 * @module
 */
import { ListenError as GrpcListenError } from "../extension/server.ts";
import type { Operator } from "../operator/operator.ts";
import { ListenError } from "../telemetry/http.ts";
import { CommandError } from "./errors.ts";
import { stopSignal } from "./signals.ts";

/** What runs beside the operator, until the signal aborts. */
export type Companion = (signal: AbortSignal) => Promise<unknown>;

/**
 * Resolves when the operator and its companions have ended, after SIGTERM or SIGINT.
 *
 * @param options.hint Which options choose the addresses.
 * @throws {CommandError} when an address can't be listened on.
 */
export async function runUntilStopped(
  operator: Operator,
  { hint, companions = [] }: { hint: string; companions?: readonly Companion[] },
): Promise<void> {
  const { signal, release } = stopSignal();
  const stop = new AbortController();
  const onSignal = () => stop.abort(signal.reason);
  signal.addEventListener("abort", onSignal, { once: true });
  const beside = Promise.all(companions.map((companion) => companion(stop.signal)));
  // One that fails ends all; it is thrown below.
  beside.catch(() => stop.abort());
  try {
    await operator.run(stop.signal);
  } catch (error) {
    if (!(error instanceof ListenError) && !(error instanceof GrpcListenError)) throw error;
    throw new CommandError(`${error.message} (${hint})`, { cause: error });
  } finally {
    stop.abort();
    await beside;
    release();
  }
}
