/** Commands that run and end. */

export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Ends the command after so many milliseconds. Default: 120000. */
  readonly timeoutMs?: number;
}

/** A command that failed: which, how, and what it wrote. */
export class CommandError extends Error {
  override name = "CommandError";
  constructor(
    readonly command: readonly string[],
    readonly code: number,
    readonly stdout: string,
    readonly stderr: string,
  ) {
    const said = (stderr.trim() || stdout.trim()).slice(-4000);
    super(`${command.join(" ").slice(0, 300)} ended with ${code}: ${said}`);
  }
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, whatever that is. */
export async function tryRun(
  command: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const [name = "", ...args] = command;
  const child = new Deno.Command(name, {
    args,
    env: { ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(options.timeoutMs ?? 120_000),
  }).spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin));
    await writer.close();
  }
  const output = await child.output();
  const text = new TextDecoder();
  return {
    code: output.code,
    stdout: text.decode(output.stdout),
    stderr: text.decode(output.stderr),
  };
}

/** Runs a command, which must succeed, and returns what it wrote to stdout. */
export async function run(
  command: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const result = await tryRun(command, options);
  if (result.code !== 0) {
    throw new CommandError(command, result.code, result.stdout, result.stderr);
  }
  return result.stdout;
}
