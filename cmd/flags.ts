/**
 * Options of commands: each is a flag, or an environment variable, or its default.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { CommandError } from "./errors.ts";

/** One option. */
export interface Flag {
  /** Shown in the help. */
  readonly help: string;
  /** Where its value is taken from when the flag is not given. */
  readonly env?: string;
  readonly default?: string;
}

/** The values of flags and the other arguments. */
export interface Parsed<Name extends string> {
  readonly values: Readonly<Record<Name, string | undefined>>;
  readonly positionals: readonly string[];
  /** `--help` was given. */
  readonly help: boolean;
}

/**
 * Reads arguments.
 *
 * @throws {CommandError} for flags that are not known or lack a value.
 */
export function parseFlags<Name extends string>(
  args: readonly string[],
  flags: Readonly<Record<Name, Flag>>,
): Parsed<Name> {
  const names = Object.keys(flags) as Name[];
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        ...Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
      },
    });
    const given = values as Record<string, string | boolean | undefined>;
    const resolved = names.map((name) => {
      const { env, default: otherwise } = flags[name];
      const fromEnv = env ? Deno.env.get(env) : undefined;
      return [name, given[name] ?? (fromEnv || undefined) ?? otherwise];
    });
    return { values: Object.fromEntries(resolved), positionals, help: given.help === true };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(message, { cause, exitCode: 2 });
  }
}

/** The help text of flags. */
export function describeFlags(flags: Readonly<Record<string, Flag>>): string {
  const width = Math.max(...Object.keys(flags).map((name) => name.length));
  return Object.entries(flags).map(([name, { help, env, default: otherwise }]) => {
    const more = [
      ...(otherwise === undefined ? [] : [`default ${otherwise}`]),
      ...(env === undefined ? [] : [`or $${env}`]),
    ];
    return `  --${name.padEnd(width)}  ${help}${more.length > 0 ? ` (${more.join(", ")})` : ""}`;
  }).join("\n");
}

/** The value as one of a list. @throws {CommandError} */
export function oneOf<T extends string>(
  flag: string,
  value: string | undefined,
  allowed: readonly T[],
): T {
  const found = allowed.find((candidate) => candidate === value);
  if (found) return found;
  throw new CommandError(`--${flag} is ${value}; give one of ${allowed.join(", ")}`, {
    exitCode: 2,
  });
}

/** The value as a whole number. @throws {CommandError} */
export function wholeNumber(flag: string, value: string | undefined, least: number): number {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new CommandError(`--${flag} is ${value}; give a whole number of at least ${least}`, {
    exitCode: 2,
  });
}
