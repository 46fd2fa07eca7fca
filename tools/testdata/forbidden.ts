/**
 * Tries what the program's flags are there to forbid, and says how it went, as JSON.
 *
 * @module
 */

/** How an attempt went. */
export interface Attempt {
  /** What it gave. */
  readonly value?: unknown;
  /** What was thrown, with its causes. */
  readonly threw?: string;
}

const elsewhere = "/etc/passwd";
// Put together, so that Deno does not look for them before the program runs.
const remote = ["https:", "", "deno.land", "x", "code.ts"].join("/");
const module = ["file:", "", "", "etc", "code.ts"].join("/");

const ATTEMPTS: Readonly<Record<string, () => unknown>> = {
  "--deny-write": () => Deno.writeTextFile("./written", ""),
  "--deny-run": () => new Deno.Command("/bin/sh", { args: ["-c", "true"] }).output(),
  "--deny-ffi": () => Deno.dlopen("libc.so.6", {}),
  "--deny-sys": () => Deno.hostname(),
  "--allow-read, a file elsewhere": () => Deno.readTextFile(elsewhere),
  "--allow-read, a module elsewhere": () => import(module),
  "--allow-read, a socket elsewhere": () =>
    Deno.connect({ transport: "unix", path: "/run/docker.sock" }),
  "--deny-net, an address": () => Deno.connect({ hostname: "169.254.169.254", port: 80 }),
  "--deny-net, an address of version 6": () => fetch("http://[fd00:ec2::254]/latest/meta-data"),
  "--deny-net, written as of version 6": () => fetch("http://[::ffff:169.254.169.254]/"),
  "--no-remote": () => import(remote),
  "the environment": () => Deno.env.toObject(),
};

async function attempt(what: () => unknown): Promise<Attempt> {
  try {
    const value = await what();
    return { value };
  } catch (error) {
    const messages: string[] = [];
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      messages.push(`${cause.name}: ${cause.message}`);
    }
    return { threw: messages.join("; ") };
  }
}

if (import.meta.main) {
  const went: Record<string, Attempt> = {};
  for (const [name, what] of Object.entries(ATTEMPTS)) went[name] = await attempt(what);
  console.log(JSON.stringify(went));
}
