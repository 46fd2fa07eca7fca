/** Commands that run until they are stopped. */
import { join } from "node:path";
import { waitFor, type WaitOptions } from "./wait.ts";

/** A daemon ended by itself. The message has the end of its log. */
export class DaemonDiedError extends Error {
  override name = "DaemonDiedError";
}

export interface DaemonOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** One running command; what it writes goes to its log file. */
export class Daemon {
  #ended: Deno.CommandStatus | undefined;
  #stopping = false;

  constructor(
    readonly name: string,
    readonly logFile: string,
    private readonly child: Deno.ChildProcess,
  ) {
    child.status.then((status) => this.#ended = status);
  }

  get pid(): number {
    return this.child.pid;
  }

  get running(): boolean {
    return this.#ended === undefined;
  }

  /** What it wrote so far. */
  log(): string {
    return Deno.readTextFileSync(this.logFile);
  }

  /** Throws when it ended without being told to. */
  check(): void {
    if (this.#ended === undefined || this.#stopping) return;
    const tail = this.log().slice(-2000);
    throw new DaemonDiedError(
      `${this.name} ended with ${this.#ended.code}; ${this.logFile} ends with:\n${tail}`,
    );
  }

  /** Waits for a state, but not after the daemon's death. */
  async ready<T>(probe: () => T | Promise<T>, options: WaitOptions = {}): Promise<void> {
    await waitFor(`${this.name} ready (log: ${this.logFile})`, probe, {
      ...options,
      guard: () => this.check(),
    });
  }

  /** Its exit code, once it has ended. */
  get exitCode(): number | undefined {
    return this.#ended?.code;
  }

  /** Sends a signal to it and its children. That it ends of it is no surprise. */
  signal(signal: Deno.Signal): void {
    this.#stopping = true;
    signalGroup(this.pid, signal);
  }

  /** SIGTERM to it and its children, and SIGKILL after the grace. */
  async stop(graceMs = 10_000): Promise<void> {
    this.#stopping = true;
    this.child.ref();
    if (this.#ended === undefined) {
      signalGroup(this.pid, "SIGTERM");
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((done) => timer = setTimeout(done, graceMs));
      await Promise.race([this.child.status, late]);
      clearTimeout(timer);
    }
    signalGroup(this.pid, "SIGKILL");
    await this.child.status;
  }
}

function signalGroup(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(-pid, signal);
  } catch (error) {
    // Nobody is left in the group: that is what was wanted.
    if (!(error instanceof Deno.errors.NotFound || error instanceof TypeError)) throw error;
  }
}

/** The daemons of one testbed. */
export class Daemons {
  readonly #all: Daemon[] = [];

  constructor(private readonly logDir: string) {
    Deno.mkdirSync(logDir, { recursive: true });
  }

  /** Starts a command in a process group of its own. */
  start(name: string, command: readonly string[], options: DaemonOptions = {}): Daemon {
    const logFile = join(this.logDir, `${name}.log`);
    const child = new Deno.Command("setsid", {
      args: ["sh", "-c", 'log=$1; shift; exec "$@" >>"$log" 2>&1', "sh", logFile, ...command],
      env: { ...options.env },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      stdin: "null",
      stdout: "null",
      stderr: "inherit",
    }).spawn();
    child.unref();
    const daemon = new Daemon(name, logFile, child);
    this.#all.push(daemon);
    return daemon;
  }

  get(name: string): Daemon | undefined {
    return this.#all.findLast((daemon) => daemon.name === name && daemon.running);
  }

  /** Throws when any of them died by itself. */
  check(): void {
    for (const daemon of this.#all) daemon.check();
  }

  /** Stops all at once. */
  async stopAll(): Promise<void> {
    await Promise.all(this.#all.splice(0).map((daemon) => daemon.stop(5_000)));
  }

  /** Stops one after the other, newest first: what is kept on disk is then whole. */
  async stopInOrder(): Promise<void> {
    for (const daemon of this.#all.splice(0).reverse()) await daemon.stop(30_000);
  }
}
