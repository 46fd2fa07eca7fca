/** Network namespaces for hosts that are no pods. */
import { HOST_IP } from "./addresses.ts";
import { run } from "./command.ts";
import type { Daemon, Daemons } from "./daemons.ts";

const CONNECT = `
pid=$1 link=$2 ip=$3 host=$4
ip link add "$link" type veth peer name eth0 netns "$pid"
ip link set "$link" up
ip route add "$ip/32" dev "$link"
exec nsenter --net="/proc/$pid/ns/net" -- bash -euc '
  ip link set lo up
  ip link set eth0 up
  ip addr add "$1/32" dev eth0
  ip route add "$2" dev eth0 scope link
  ip route add default via "$2"
' node "$ip" "$host"
`;

/** Starts a namespace that lives as long as the daemon does; this machine routes to it. */
export async function startNetwork(
  name: string,
  place: { readonly daemons: Daemons; readonly address: string },
): Promise<Daemon> {
  const daemon = place.daemons.start(
    `network-${name}`,
    ["unshare", "--net", "--", "sleep", "infinity"],
  );
  // It is in its namespace once it has become the sleeper.
  const command = `/proc/${daemon.pid}/cmdline`;
  await daemon.ready(async () => (await Deno.readTextFile(command)).startsWith("sleep"), {
    everyMs: 5,
  });
  const link = `node${place.address.split(".").slice(2).join("-")}`;
  await run(["bash", "-euc", CONNECT, "node", String(daemon.pid), link, place.address, HOST_IP]);
  return daemon;
}

/** The command line that runs a command in the network of that process. */
export function inNetworkOf(pid: number, command: readonly string[]): string[] {
  return ["nsenter", `--net=/proc/${pid}/ns/net`, "--", ...command];
}
