/**
 * The testbed's own network, mount and process namespaces: nothing outside can
 * be reached or touched, fixed ports clash with nothing, and whatever is started
 * inside ends with its first process.
 */
import { FLAT_CIDR, HOST_IP, SERVICE_CIDR } from "./addresses.ts";

const INSIDE = "TESTBED_INSIDE";

/** Does this process run inside the testbed's namespaces? */
export const isInside = (): boolean => Deno.env.get(INSIDE) === "1";

/** It was tried to start the testbed outside its namespaces. */
export class NotInsideError extends Error {
  override name = "NotInsideError";
  constructor() {
    super("This runs only inside the testbed's namespaces: use `deno task e2e`, or testbed enter");
  }
}

export function assertInside(): void {
  if (!isInside()) throw new NotInsideError();
}

/**
 * The first process inside. It is a shell, not the command itself, since the
 * first process of a namespace has to reap orphans and gets no default signals.
 */
const FIRST_PROCESS = `
ip link set lo up
ip addr add ${HOST_IP}/32 dev lo
ip route add local ${FLAT_CIDR} dev lo
ip route add ${SERVICE_CIDR} dev lo src ${HOST_IP}
echo 1 >/proc/sys/net/ipv4/ip_forward
[ ! -d /dev/shm ] || mount -t tmpfs -o mode=1777 none /dev/shm
"$@"
exit $?
`;

/** The command line that runs `command` in new namespaces, and all of it dies with the caller. */
export function inNamespaces(command: readonly string[]): string[] {
  return [
    ..."setpriv --pdeathsig KILL -- unshare --net --mount --pid --fork --kill-child".split(" "),
    ..."--mount-proc -- env".split(" "),
    `${INSIDE}=1`,
    ..."bash -euc".split(" "),
    FIRST_PROCESS,
    "testbed",
    ...command,
  ];
}

/** The command line that runs `command` in the namespaces of a process. */
export function inNamespacesOf(pid: number, command: readonly string[]): string[] {
  return [
    ..."nsenter --net --mount --pid --target".split(" "),
    String(pid),
    "env",
    `${INSIDE}=1`,
    ...command,
  ];
}
