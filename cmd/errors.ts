/**
 * What ends a command with one line.
 *
 * @module
 */

/** A failure that the user can mend; its message says how. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  /** 1: it failed. 2: it was called wrongly. */
  readonly exitCode: 1 | 2;

  constructor(message: string, options: { cause?: unknown; exitCode?: 1 | 2 } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}
