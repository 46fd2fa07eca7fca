/**
 * The part of `@std/log` that this project uses: levels, records, handlers,
 * loggers by name.
 *
 * @module
 */

/** Level numbers, as `@std/log` has them. */
export const LogLevels = { NOTSET: 0, DEBUG: 10, INFO: 20, WARN: 30, ERROR: 40, CRITICAL: 50 };

/** The name of a level. */
export type LevelName = keyof typeof LogLevels;

/** The level's number by its name. */
export function getLevelByName(name: LevelName): number {
  return LogLevels[name];
}

/** One message with its arguments. */
export class LogRecord {
  readonly msg: string;
  readonly args: unknown[];
  readonly level: number;
  readonly levelName: LevelName;
  readonly loggerName: string;
  readonly datetime: Date;

  constructor(options: { msg: string; args: unknown[]; level: number; loggerName: string }) {
    this.msg = options.msg;
    this.args = options.args;
    this.level = options.level;
    this.loggerName = options.loggerName;
    this.datetime = new Date();
    const name = Object.entries(LogLevels).find(([, number]) => number === options.level)?.[0];
    this.levelName = (name ?? "NOTSET") as LevelName;
  }
}

/** Turns a record into the text to write. */
export type FormatterFunction = (record: LogRecord) => string;

/** What is common to all handlers. */
export abstract class BaseHandler {
  level: number;
  formatter: FormatterFunction;

  constructor(levelName: LevelName, options: { formatter?: FormatterFunction } = {}) {
    this.level = getLevelByName(levelName);
    this.formatter = options.formatter ?? ((record) => `${record.levelName} ${record.msg}`);
  }

  handle(record: LogRecord): void {
    if (record.level >= this.level) this.log(this.formatter(record));
  }

  abstract log(text: string): void;
  setup(): void {}
  destroy(): void {}
}

/** Writes to the console. */
export class ConsoleHandler extends BaseHandler {
  override log(text: string): void {
    console.log(text);
  }
}

/** Hands records of its level and above to its handlers. */
export class Logger {
  constructor(
    readonly loggerName: string,
    readonly levelName: LevelName,
    readonly options: { handlers?: BaseHandler[] } = {},
  ) {}

  #write(level: number, msg: string, args: unknown[]): void {
    if (level < getLevelByName(this.levelName)) return;
    const record = new LogRecord({ msg, args, level, loggerName: this.loggerName });
    for (const handler of this.options.handlers ?? []) handler.handle(record);
  }

  debug(msg: string, ...args: unknown[]): void {
    this.#write(LogLevels.DEBUG, msg, args);
  }
  info(msg: string, ...args: unknown[]): void {
    this.#write(LogLevels.INFO, msg, args);
  }
  warn(msg: string, ...args: unknown[]): void {
    this.#write(LogLevels.WARN, msg, args);
  }
  error(msg: string, ...args: unknown[]): void {
    this.#write(LogLevels.ERROR, msg, args);
  }
  critical(msg: string, ...args: unknown[]): void {
    this.#write(LogLevels.CRITICAL, msg, args);
  }
}

/** Handlers and loggers by name; the logger `default` serves unknown names. */
export interface LogConfig {
  handlers?: Record<string, BaseHandler>;
  loggers?: Record<string, { level?: LevelName; handlers?: string[] }>;
}

let loggers = new Map<string, Logger>();

/** Replaces the configuration. */
export function setup(config: LogConfig): void {
  loggers = new Map();
  for (const [name, spec] of Object.entries(config.loggers ?? {})) {
    const handlers = (spec.handlers ?? [])
      .flatMap((handler) => config.handlers?.[handler] ?? []);
    loggers.set(name, new Logger(name, spec.level ?? "INFO", { handlers }));
  }
}

/** The logger of that name, else the one named `default`, else a silent one. */
export function getLogger(name = "default"): Logger {
  const found = loggers.get(name);
  if (found) return found;
  const fallback = loggers.get("default");
  const logger = new Logger(name, fallback?.levelName ?? "NOTSET", fallback?.options ?? {});
  loggers.set(name, logger);
  return logger;
}
