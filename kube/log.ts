/**
 * The log that this folder writes to, as a parameter.
 *
 * @module
 */

/** Takes a constant message and the facts beside it. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Says nothing. */
export const silentLog: Logger = { debug() {}, info() {}, warn() {}, error() {} };
