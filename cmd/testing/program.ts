/** The program as a process of its own. */
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

/** How a finished run of the program ended. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How the program is run. */
export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Deno's flags. By default it may do anything. */
  readonly flags?: readonly string[];
  readonly cwd?: string;
}

function command(args: readonly string[], options: ProgramOptions = {}): Deno.Command {
  const { env, flags = ["-A"], cwd } = options;
  return new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, "--no-lock", "--no-check", MAIN, ...args],
    env: { NO_COLOR: "1", ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

/** Runs the program to its end. */
export async function runProgram(
  args: readonly string[],
  options?: ProgramOptions,
): Promise<Finished> {
  const { code, stdout, stderr } = await command(args, options).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

/** A run of the program that goes on until it is told to end. */
export class RunningProgram {
  readonly #child: Deno.ChildProcess;
  readonly #drained: Promise<unknown>;
  readonly #changed = new Set<() => void>();
  /** What it wrote so far, standard output and error together. */
  output = "";

  constructor(args: readonly string[], options?: ProgramOptions) {
    this.#child = command(args, options).spawn();
    this.#drained = Promise.all([this.#read(this.#child.stdout), this.#read(this.#child.stderr)]);
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      this.output += text;
      for (const wake of this.#changed) wake();
    }
    for (const wake of this.#changed) wake();
  }

  /** Waits until it has written that; throws when it ends before. */
  async wrote(text: string): Promise<void> {
    let ended = false;
    const end = this.#drained.then(() => ended = true);
    while (!this.output.includes(text)) {
      if (ended) {
        throw new Error(`it ended without writing ${JSON.stringify(text)}:\n${this.output}`);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#changed.add(resolve);
      await Promise.race([promise, end]);
      this.#changed.delete(resolve);
    }
  }

  /** Sends a signal, and waits for the end. Resolves to the exit code. */
  async end(signal: Deno.Signal): Promise<number> {
    this.#child.kill(signal);
    const { code } = await this.#child.status;
    await this.#drained;
    return code;
  }
}

/** A port that nobody listens on. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return port;
}
