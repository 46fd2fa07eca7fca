/**
 * The image without a container runtime: a root folder with what
 * `gcr.io/distroless/cc-debian12:nonroot` holds, taken from this machine, and what the
 * Dockerfile copies into it; and the command line that runs its entry point as a
 * container would.
 */
import { dirname, join } from "node:path";
import { run } from "../testbed/command.ts";
import type { ImageStage } from "./dockerfile.ts";

/** The user `nonroot` of distroless. */
const NONROOT = 65532;

/** The C library's and the compiler's parts that distroless cc has, in Debian 12's names. */
const LIBRARIES = [
  "libc.so.6",
  "libm.so.6",
  "libdl.so.2",
  "libpthread.so.0",
  "librt.so.1",
  "libresolv.so.2",
  "libnss_dns.so.2",
  "libnss_files.so.2",
  "libgcc_s.so.1",
  "libstdc++.so.6",
];

/** Where they lie, and the program that loads them. */
const PLATFORMS: Readonly<Record<string, { folder: string; loader: string }>> = {
  x86_64: { folder: "/lib/x86_64-linux-gnu", loader: "/lib64/ld-linux-x86-64.so.2" },
  aarch64: { folder: "/lib/aarch64-linux-gnu", loader: "/lib/ld-linux-aarch64.so.1" },
};

const FILES: Readonly<Record<string, string>> = {
  "/etc/passwd": "root:x:0:0:root:/root:/sbin/nologin\n" +
    `nonroot:x:${NONROOT}:${NONROOT}:nonroot:/home/nonroot:/sbin/nologin\n`,
  "/etc/group": `root:x:0:\nnonroot:x:${NONROOT}:\n`,
  "/etc/nsswitch.conf": "hosts: files dns\n",
};

/** What a kubelet and a runtime mount, and what must be there for it. */
const MOUNT_POINTS = ["/proc", "/dev", "/tmp", "/home/nonroot", "/var/run/secrets"];

/** Where a stage's files come from: the build stage's paths, and the build's context. */
export interface ImageSources {
  readonly build: Readonly<Record<string, string>>;
  readonly context: string;
}

/** Makes the image's root in an empty folder. */
export async function makeRoot(
  root: string,
  stage: ImageStage,
  { build, context }: ImageSources,
): Promise<void> {
  for (const path of MOUNT_POINTS) await Deno.mkdir(root + path, { recursive: true });
  await copyBase(root);
  for (const { source, target, fromBuild } of stage.copies) {
    const from = fromBuild ? build[source] : join(context, source);
    if (from === undefined) throw new Error(`nothing stands for ${source} of the build stage`);
    await put(from, root + target);
  }
  await Deno.mkdir(root + stage.workdir, { recursive: true });
  await run(["chown", "-R", "root:root", root]);
}

async function copyBase(root: string): Promise<void> {
  const machine = (await run(["uname", "-m"])).trim();
  const platform = PLATFORMS[machine];
  if (!platform) throw new Error(`distroless of ${machine} is not known here`);
  for (const name of LIBRARIES) {
    await put(`${platform.folder}/${name}`, `${root}${platform.folder}/${name}`);
  }
  await put(platform.loader, root + platform.loader);
  const certificates = "/etc/ssl/certs/ca-certificates.crt";
  await put(certificates, root + certificates);
  await put("/usr/share/zoneinfo/Etc/UTC", `${root}/usr/share/zoneinfo/Etc/UTC`);
  for (const [path, text] of Object.entries(FILES)) await Deno.writeTextFile(root + path, text);
}

/** Follows links: what they lead to on this machine may lie elsewhere in the root. */
async function put(from: string, to: string): Promise<void> {
  await Deno.mkdir(dirname(to), { recursive: true });
  await run(["cp", "-RL", from, to]);
}

/** How a container of the image is run. */
export interface ContainerOptions {
  readonly root: string;
  readonly stage: ImageStage;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Holds what is mounted at `/var/run/secrets`. */
  readonly secrets?: string;
  /** In place of the image's entry point. */
  readonly command?: readonly string[];
}

/**
 * Mounts what a container has, read-only but for /dev, and becomes the command in it: as
 * the image's user, without capabilities, and with no way to get any.
 */
const ENTER = `
root=$1 secrets=$2 dir=$3 user=$4
shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755 none "$root/dev"
for device in null zero full random urandom; do
  : >"$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
[ -z "$secrets" ] || mount --bind "$secrets" "$root/var/run/secrets"
mount -o remount,bind,ro "$root"
exec env -i "\${container_env[@]}" setpriv --no-new-privs -- \\
  unshare --root="$root" --wd="$dir" --setgid="\${user#*:}" --setuid="\${user%:*}" -- "$@"`;

/** The command line that runs a container of the image. */
export function containerCommand(options: ContainerOptions): string[] {
  const { root, stage, args, secrets = "", env = {}, command = stage.entryPoint } = options;
  const variables = Object.entries({ HOME: "/home/nonroot", ...env })
    .map(([name, value]) => `${name}=${value}`);
  // Bash's own array: an environment can't be passed by \`env\` in a root without it.
  const prepare = `n=$1; shift; container_env=("\${@:1:n}"); shift "$n"`;
  return [
    ..."unshare --mount -- bash -euc".split(" "),
    prepare + ENTER,
    "container",
    ...[String(variables.length), ...variables],
    ...[root, secrets, stage.workdir, stage.user],
    ...[...command, ...args],
  ];
}
