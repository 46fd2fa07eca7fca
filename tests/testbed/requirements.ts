/** What the machine must have. */
import { tryRun } from "./command.ts";

/** Programs, and the Debian package that brings each. */
const RUNTIME: Readonly<Record<string, string>> = {
  unshare: "util-linux",
  nsenter: "util-linux",
  setpriv: "util-linux",
  setsid: "util-linux",
  mount: "mount",
  ip: "iproute2",
  nft: "nftables",
  openssl: "openssl",
  curl: "curl",
  bash: "bash",
};
const BUILD: Readonly<Record<string, string>> = {
  go: "golang (1.26 or later, see go.dev)",
  python3: "python3 and python3-pip",
};

/** The machine lacks something. The message says what to install. */
export class RequirementsError extends Error {
  override name = "RequirementsError";
}

/** Throws when something is missing; says all that is missing at once. */
export async function checkRequirements(options: { build: boolean }): Promise<void> {
  const wanted = { ...RUNTIME, ...(options.build ? BUILD : {}) };
  const problems: string[] = [];
  if (Deno.build.os !== "linux") problems.push("it runs on Linux only (network namespaces)");
  if (Deno.uid() !== 0) problems.push("it must run as root (namespaces, nftables, other users)");
  for (const [name, origin] of Object.entries(wanted)) {
    const found = await tryRun(["sh", "-c", 'command -v "$0"', name]);
    if (found.code !== 0) problems.push(`${name} is missing: install ${origin}`);
  }
  if (options.build && problems.length === 0) problems.push(...await buildProblems());
  if (problems.length > 0) {
    throw new RequirementsError(`The testbed can't run here:\n- ${problems.join("\n- ")}`);
  }
}

async function buildProblems(): Promise<string[]> {
  const problems: string[] = [];
  const go = await tryRun(["go", "env", "GOVERSION"], { env: { GOTOOLCHAIN: "local" } });
  const minor = Number(/^go1\.(\d+)/.exec(go.stdout)?.[1] ?? 0);
  if (minor < 26) problems.push(`go is ${go.stdout.trim()}: Go 1.26 or later is needed`);
  const pip = await tryRun(["python3", "-m", "pip", "--version"]);
  if (pip.code !== 0) problems.push("python3 has no pip: install python3-pip");
  return problems;
}
