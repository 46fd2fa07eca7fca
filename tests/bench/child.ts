/**
 * Processes that a bench starts and talks with, line by line.
 *
 * @module
 */

/** A process that ended before it said what it was asked for. */
export class ChildError extends Error {
  override readonly name = "ChildError";
}

/** A program of this folder, as a command of the running Deno. */
export function denoCommand(
  file: string,
  { args = [], v8Flags = [] }: { args?: readonly string[]; v8Flags?: readonly string[] } = {},
): string[] {
  const flags = ["-A", "--no-lock", "--no-check", "--quiet"];
  if (v8Flags.length > 0) flags.push(`--v8-flags=${v8Flags.join(",")}`);
  return [Deno.execPath(), "run", ...flags, new URL(file, import.meta.url).href, ...args];
}

/** A running process. It is asked to end by the end of its stdin. */
export class Child implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #lines: ReadableStreamDefaultReader<string>;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #name: string;

  constructor(command: readonly string[]) {
    const [program = "", ...args] = command;
    this.#name = command.filter((part) => !part.startsWith("-")).slice(0, 3).join(" ");
    this.#process = new Deno.Command(program, {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#stdin = this.#process.stdin.getWriter();
    this.#lines = this.#process.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new LineStream()).getReader();
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** The next line that it prints. @throws {ChildError} when it ends instead */
  async line(): Promise<string> {
    const { value } = await this.#lines.read();
    if (value !== undefined) return value;
    const { code, signal } = await this.#process.status;
    throw new ChildError(`${this.#name} ended with ${signal ?? code} before it was done`);
  }

  /** Sends a line, and gives the line that is the answer, from JSON. */
  async ask<T>(line: string): Promise<T> {
    await this.#stdin.write(new TextEncoder().encode(`${line}\n`));
    return JSON.parse(await this.line());
  }

  /** Ends it; by force when it takes more than ten seconds. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stdin.close().catch(() => {}); // it has ended already
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 10_000);
    await this.#lines.cancel();
    await this.#process.status;
    clearTimeout(timer);
  }
}

/** Answers the lines that a parent sends, until it closes our stdin. */
export async function answerLines(
  answer: (line: string) => unknown | Promise<unknown>,
): Promise<void> {
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream())
    .pipeThrough(new LineStream());
  for await (const line of lines) console.log(JSON.stringify(await answer(line)));
}

class LineStream extends TransformStream<string, string> {
  constructor() {
    let rest = "";
    super({
      transform(chunk, controller) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
      },
    });
  }
}
