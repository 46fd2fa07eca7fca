/** A testbed for people: it lives until it is taken down. */
import { join } from "node:path";
import { tryRun } from "./command.ts";
import { inNamespaces, inNamespacesOf } from "./netns.ts";
import { binDir, cacheDir, SOURCES } from "./paths.ts";
import { type Part, Testbed } from "./testbed.ts";
import { waitFor } from "./wait.ts";

/** No testbed is up. */
export class NotUpError extends Error {
  override name = "NotUpError";
  constructor() {
    super("No testbed is up: run `deno task testbed up` first");
  }
}

export interface UpOptions {
  readonly parts: readonly Part[];
  readonly gateway: "host" | "kubernetes" | "none";
}

export const upDir = (): string => join(cacheDir(), "up");
const pidFile = () => join(cacheDir(), "up.pid");
const readyFile = () => join(upDir(), "ready");
export const upKubeconfig = (): string => join(upDir(), "kube", "admin.kubeconfig");

/** Starts it in the background and waits until it is ready. */
export async function up(options: UpOptions): Promise<void> {
  if (await firstProcess() !== undefined) return;
  await Deno.remove(upDir(), { recursive: true }).catch(() => {});
  await Deno.mkdir(upDir(), { recursive: true });
  const hold = [Deno.execPath(), "run", "-A", "--no-lock", join(SOURCES, "main.ts"), "hold"];
  // Without the death signal: it is to outlive this process.
  const inside = inNamespaces([...hold, JSON.stringify(options)]);
  const command = inside.slice(inside.indexOf("unshare"));
  const log = join(upDir(), "hold.log");
  const child = new Deno.Command("setsid", {
    args: ["sh", "-c", 'log=$1; shift; exec "$@" >"$log" 2>&1', "sh", log, ...command],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  child.unref();
  await Deno.writeTextFile(pidFile(), String(child.pid));
  let ended = false;
  child.status.then(() => ended = true);
  await waitFor(`the testbed (log: ${log})`, () => Deno.stat(readyFile()), {
    timeoutMs: 300_000,
    guard: () => {
      if (ended) throw new Error(`the testbed ended: ${Deno.readTextFileSync(log)}`);
    },
  });
}

/** What `up` runs inside: starts the parts and stays. */
export async function hold(options: UpOptions): Promise<void> {
  const bed = await Testbed.start({ parts: options.parts, stateDir: upDir(), freshState: false });
  if (options.gateway !== "none") await bed.startEnvoyGateway({ infra: options.gateway });
  await Deno.writeTextFile(readyFile(), new Date().toISOString());
  const stopped = new Promise<void>((done) => Deno.addSignalListener("SIGTERM", done));
  await stopped;
  await bed.stop();
}

/** Stops it, and with `wipe` throws its state away. */
export async function down(options: { wipe: boolean }): Promise<boolean> {
  const first = await firstProcess();
  const holder = await holderPid();
  if (first !== undefined && holder !== undefined) {
    Deno.kill(holder, "SIGKILL");
    await waitFor("the end of the testbed", async () => await firstProcess() === undefined);
  }
  await Deno.remove(pidFile()).catch(() => {});
  if (options.wipe) await Deno.remove(upDir(), { recursive: true }).catch(() => {});
  return first !== undefined;
}

async function holderPid(): Promise<number | undefined> {
  const text = await Deno.readTextFile(pidFile()).catch(() => undefined);
  const pid = Number(text);
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  const command = await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => "");
  return command.startsWith("unshare") ? pid : undefined;
}

/** The testbed's first process, as numbered outside. */
export async function firstProcess(): Promise<number | undefined> {
  const pid = await holderPid();
  if (pid === undefined) return undefined;
  const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`).catch(() => "");
  const first = Number(children.trim().split(" ")[0]);
  return first > 0 ? first : undefined;
}

/** Runs a command inside, on this terminal, and returns its exit code. */
export async function enter(command: readonly string[]): Promise<number> {
  const first = await firstProcess();
  if (first === undefined) throw new NotUpError();
  const [name = "", ...args] = inNamespacesOf(first, command);
  const path = `${binDir()}:${Deno.env.get("PATH") ?? ""}`;
  const child = new Deno.Command(name, {
    args,
    env: {
      KUBECONFIG: upKubeconfig(),
      KUBECACHEDIR: join(upDir(), "kubectl-cache"),
      PATH: path,
      TESTBED_STATE: upDir(),
    },
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  return (await child.status).code;
}

/** Is it up, and what runs in it? */
export async function status(): Promise<string> {
  const first = await firstProcess();
  if (first === undefined) return "down";
  const kubectl = [join(binDir(), "kubectl"), "--kubeconfig", upKubeconfig()];
  const get = [...kubectl, "get", "nodes,pods,services", "-A"];
  const objects = await tryRun(inNamespacesOf(first, get));
  return [
    `up, first process ${first}`,
    `kubeconfig ${upKubeconfig()}`,
    `logs ${join(upDir(), "log")}`,
    objects.stdout + objects.stderr,
  ].join("\n");
}
