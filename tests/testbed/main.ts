/** `deno task testbed build|up|down|status|kubectl|enter`. */
import { build } from "./build.ts";
import { down, enter, hold, status, up, upDir, upKubeconfig } from "./longlived.ts";
import { checkRequirements } from "./requirements.ts";
import type { Part } from "./testbed.ts";

const USAGE = `usage: deno task testbed COMMAND

  build [PROGRAM...]         build what it runs, into the cache (all, or some)
  up [PART...] [gateway|gateway=host]
                             start it in the background: parts kube, pods, tailnet (default: all)
  status                     what runs
  kubectl ARGUMENTS          kubectl in it
  enter [COMMAND]            a shell in it
  down [--wipe]              stop it; with --wipe forget its state`;

const say = (line: string) => console.log(line);

async function runUp(args: readonly string[]): Promise<number> {
  await checkRequirements({ build: true });
  await build({ log: say });
  const parts = args.filter((arg) => !arg.startsWith("gateway")) as Part[];
  const gateway = args.find((arg) => arg.startsWith("gateway"));
  await up({
    parts: parts.length > 0 ? parts : ["kube", "pods", "tailnet"],
    gateway: gateway === undefined ? "none" : gateway === "gateway=host" ? "host" : "kubernetes",
  });
  say(`up. kubeconfig: ${upKubeconfig()}\nlogs: ${upDir()}/log`);
  say("It is reachable only inside its network namespace:");
  say("  deno task testbed kubectl get pods -A\n  deno task testbed enter");
  return 0;
}

const COMMANDS: Record<string, (args: string[]) => Promise<number>> = {
  build: async (only) => {
    await build({ log: say, ...(only.length > 0 ? { only } : {}) });
    return 0;
  },
  up: runUp,
  hold: async ([options = "{}"]) => {
    await hold(JSON.parse(options));
    return 0;
  },
  down: async (args) => {
    say(await down({ wipe: args.includes("--wipe") }) ? "stopped" : "was not up");
    return 0;
  },
  status: async () => {
    say(await status());
    return 0;
  },
  kubectl: (args) => enter(["kubectl", ...args]),
  enter: (args) => {
    const command = args[0] === "--" ? args.slice(1) : args;
    return enter(command.length > 0 ? command : [Deno.env.get("SHELL") ?? "bash"]);
  },
};

if (import.meta.main) {
  const command = COMMANDS[Deno.args[0] ?? ""];
  if (!command) {
    console.error(USAGE);
    Deno.exit(2);
  }
  try {
    Deno.exit(await command(Deno.args.slice(1)));
  } catch (error) {
    console.error(error instanceof Error ? `${error.name}: ${error.message}` : error);
    Deno.exit(1);
  }
}
