/** Waiting for a state. */

export interface WaitOptions {
  /** Gives up after so many milliseconds. Default: 30000. */
  readonly timeoutMs?: number;
  /** Looks again after so many milliseconds. Default: 100. */
  readonly everyMs?: number;
  /** Fails at once when this throws: what is waited for can't come any more. */
  readonly guard?: () => void;
}

/** The state did not come in time. `cause` is the last failure to look at it. */
export class WaitTimeoutError extends Error {
  override name = "WaitTimeoutError";
}

const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/**
 * Looks until `probe` returns something other than undefined, null or false, and
 * returns that. A probe that throws counts as "not yet".
 *
 * @example
 * ```ts ignore
 * const ip = await waitFor("the node's address", () => node.ip());
 * ```
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | Promise<T>,
  options: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false>> {
  const timeoutMs = options.timeoutMs ?? 30_000;
  const end = performance.now() + timeoutMs;
  let cause: unknown;
  for (;;) {
    options.guard?.();
    try {
      const value = await probe();
      if (value !== undefined && value !== null && value !== false) {
        return value as Exclude<T, undefined | null | false>;
      }
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > end) {
      const why = cause instanceof Error ? `: ${cause.message}` : "";
      throw new WaitTimeoutError(`${what}: not so after ${timeoutMs} ms${why}`, { cause });
    }
    await pause(options.everyMs ?? 100);
  }
}
