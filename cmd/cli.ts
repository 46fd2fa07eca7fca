/**
 * From arguments to a command.
 *
 * @module
 */
import { redactText } from "../core/secret.ts";
import { crashText } from "./crash.ts";
import { CommandError } from "./errors.ts";
import { runCommand } from "./run.ts";
import { standaloneCommand } from "./standalone.ts";
import { VERSION } from "./version.ts";

/** A command of the program. */
interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** Runs it; resolves to the exit code. */
  readonly main: (args: string[]) => Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  run: { summary: "run the operator, in a cluster or with a kubeconfig", main: runCommand },
  standalone: {
    summary: "run it without a cluster, on a simulated one",
    main: standaloneCommand,
  },
  version: {
    summary: "print the version",
    main: () => {
      console.log(`tailscale-gateway ${VERSION}`);
      return Promise.resolve(0);
    },
  },
};

function usage(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS)
    .map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `usage: tailscale-gateway COMMAND [OPTIONS]\n\n${lines.join("\n")}\n\n` +
    "tailscale-gateway COMMAND --help says more.";
}

/** Runs the command that the arguments name. Resolves to the exit code: 0 well, 1 failed, 2 misused. */
export async function main(args: readonly string[]): Promise<number> {
  const [name = "--help", ...rest] = args;
  if (["--help", "-h", "help"].includes(name)) {
    console.log(usage());
    return args.length === 0 ? 2 : 0;
  }
  const command = COMMANDS[name === "--version" ? "version" : name];
  if (!command) {
    console.error(`tailscale-gateway: no such command: ${name}\n\n${usage()}`);
    return 2;
  }
  try {
    return await command.main(rest);
  } catch (error) {
    if (!(error instanceof CommandError)) {
      console.error(crashText(error));
      return 1;
    }
    console.error(`tailscale-gateway: ${redactText(error.message)}`);
    return error.exitCode;
  }
}
