/**
 * Structured logs over `@std/log`: a constant message with key/value fields, as
 * JSON or as text for people.
 *
 * @module
 */
import { BaseHandler, type FormatterFunction, Logger } from "@std/log";
import type { Clock } from "../core/clock.ts";
import { formatJson, formatText, type LogFields } from "./log_format.ts";

export type { LogFields } from "./log_format.ts";

/** The levels, least urgent first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** A line's level, and the least level that is written. */
export type LogLevel = typeof LOG_LEVELS[number];

/** The forms of a line. */
export const LOG_FORMATS = ["json", "text"] as const;
/** JSON for machines, text for people. */
export type LogFormat = typeof LOG_FORMATS[number];

/** What the rest of the program logs with. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A log whose lines carry these fields too. */
  with(fields: LogFields): Log;
  /** A log for a part of the program; names nest: `kube.watch`. */
  named(name: string): Log;
}

/** Options of {@linkcode createLog}. */
export interface LogOptions {
  /** The least level that is written. @default {"info"} */
  level?: LogLevel;
  /** @default {"json"} */
  format?: LogFormat;
  /** Takes a line, without its line break. @default {standard error} */
  write?: (line: string) => void;
  /** The time of lines, for tests. @default {the machine's} */
  clock?: Pick<Clock, "now">;
}

const STD_LEVELS = { debug: "DEBUG", info: "INFO", warn: "WARN", error: "ERROR" } as const;

class WriteHandler extends BaseHandler {
  readonly #write: (line: string) => void;

  constructor(formatter: FormatterFunction, write: (line: string) => void) {
    super("NOTSET", { formatter });
    this.#write = write;
  }

  override log(text: string): void {
    this.#write(text);
  }
}

/**
 * Makes a log.
 *
 * @example
 * ```ts
 * import { createLog } from "./log.ts";
 * const log = createLog({ level: "debug", format: "text" }).named("kube");
 * log.info("watch restarted", { resource: "pods", afterMs: 250 });
 * ```
 */
export function createLog(options: LogOptions = {}): Log {
  const handler = new WriteHandler(formatter(options), options.write ?? writeStderr);
  const level = STD_LEVELS[options.level ?? "info"];
  return logOf((name) => new Logger(name, level, { handlers: [handler] }), "", {});
}

/** A log that writes nothing. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
  named: () => silentLog,
};

function logOf(loggerOf: (name: string) => Logger, name: string, bound: LogFields): Log {
  const logger = loggerOf(name);
  return {
    debug: (message, fields) => void logger.debug(message, { ...bound, ...fields }),
    info: (message, fields) => void logger.info(message, { ...bound, ...fields }),
    warn: (message, fields) => void logger.warn(message, { ...bound, ...fields }),
    error: (message, fields) => void logger.error(message, { ...bound, ...fields }),
    with: (fields) => logOf(loggerOf, name, { ...bound, ...fields }),
    named: (part) => logOf(loggerOf, name === "" ? part : `${name}.${part}`, bound),
  };
}

function formatter(options: LogOptions): FormatterFunction {
  const format = options.format === "text" ? formatText : formatJson;
  return (record) =>
    format({
      time: options.clock ? new Date(options.clock.now()) : record.datetime,
      level: record.levelName.toLowerCase(),
      logger: record.loggerName,
      message: record.msg,
      fields: (record.args[0] ?? {}) as LogFields,
    });
}

const encoder = new TextEncoder();

// Synchronous, so that the last lines before an exit are not lost.
function writeStderr(line: string): void {
  let rest = encoder.encode(line + "\n");
  while (rest.length > 0) rest = rest.subarray(Deno.stderr.writeSync(rest));
}
