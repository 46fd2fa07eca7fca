/**
 * Builds the Go references, into the cache outside the checkout.
 *
 * @module
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, run, tryRun } from "../testbed/command.ts";
import { cacheDir, SOURCES } from "../testbed/paths.ts";
import type { BenchOptions } from "./bench.ts";

type Name = "refserver" | "queuebench";

/** Where each is built from: the module's folder and the package in it. */
const PROGRAMS: Readonly<Record<Name, readonly [folder: string, pkg: string]>> = {
  refserver: [join(SOURCES, "go", "gateway"), "./refserver"],
  queuebench: [fileURLToPath(new URL("go", import.meta.url)), "."],
};

const ENV = {
  CGO_ENABLED: "0",
  GOTOOLCHAIN: "local",
  GOFLAGS: "-mod=readonly -buildvcs=false",
};

/** A first build brings modules and compiles them. */
const BUILD_TIMEOUT_MS = 15 * 60_000;

/** Paths of what could be built; `say` hears why something could not. */
export async function buildReferences(
  say: (line: string) => void,
): Promise<Pick<BenchOptions, Name>> {
  const found = await tryRun(["sh", "-c", "command -v go"]);
  if (found.code !== 0) {
    say("no Go references: there is no `go` here; install Go 1.26 or later to compare with it");
    return {};
  }
  const built: Partial<Record<Name, string>> = {};
  for (const [name, [folder, pkg]] of Object.entries(PROGRAMS) as [Name, [string, string]][]) {
    const program = join(cacheDir(), "..", "bench", name);
    try {
      const command = ["go", "build", "-trimpath", "-o", program, pkg];
      await run(command, { cwd: folder, env: ENV, timeoutMs: BUILD_TIMEOUT_MS });
      built[name] = program;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      say(`no ${name} to compare with: ${error.message}`);
    }
  }
  return built;
}
