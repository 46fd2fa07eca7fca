/** A host in a tailnet: a real tailscaled in user space, with a server behind it. */
import { join } from "node:path";
import { HOST_IP } from "./addresses.ts";
import { run, tryRun } from "./command.ts";
import type { Daemon, Daemons } from "./daemons.ts";
import { inNetworkOf, startNetwork } from "./node_network.ts";
import { program } from "./paths.ts";
import { waitFor } from "./wait.ts";

export interface TailnetNodeOptions {
  /** Hostname that it asks for. */
  readonly name: string;
  /** Default: none. */
  readonly tags?: readonly string[];
  /** Answers every request with this text (and `/echo` with what was asked). */
  readonly text?: string;
  /** Answers requests in this process instead. */
  readonly handler?: (request: Request) => Response | Promise<Response>;
  /** Auth key to log in with. Default: a fresh one. */
  readonly authKey?: string;
  /** Takes routes from others: needed by clients of Tailscale Services. Default: false. */
  readonly acceptRoutes?: boolean;
}

/** Where a node lives. */
export interface NodePlace {
  readonly controlURL: string;
  readonly daemons: Daemons;
  readonly dir: string;
  /** Address of its network namespace. */
  readonly address: string;
  /** Port of its server, there and in the tailnet. */
  readonly port: number;
}

const PROXY_PORT = 1055;

/**
 * A real tailscaled, logged in. It has a network namespace of its own: in the
 * testbed's one it would see links come and go with each pod, and reconnect.
 */
export class TailnetNode {
  readonly name: string;
  /** Its address in the tailnet, once started. */
  ip = "";
  ipv6 = "";
  #network: Daemon | undefined;
  #daemon: Daemon | undefined;
  #server: Daemon | undefined;
  #handler: Deno.HttpServer | undefined;

  constructor(private readonly options: TailnetNodeOptions, private readonly place: NodePlace) {
    this.name = options.name;
  }

  /** Port in the tailnet at which the server answers directly: closed when it is stopped. */
  get port(): number {
    return this.place.port;
  }

  /** The server in the tailnet, port 80 (by `tailscale serve`: that port accepts always). */
  get url(): string {
    return `http://${this.ip}/`;
  }

  /** An HTTP proxy into the tailnet, for this machine: the way of a client. */
  get httpProxy(): string {
    return `http://${this.place.address}:${PROXY_PORT}`;
  }

  get #socket(): string {
    return join(this.place.dir, "s");
  }

  /** Starts all of it, and logs in. */
  async start(): Promise<void> {
    await Deno.mkdir(this.place.dir, { recursive: true });
    this.#network = await startNetwork(this.name, this.place);
    this.startServer();
    await this.startDaemon();
    await this.tailscale(
      "up",
      `--login-server=${this.place.controlURL}`,
      `--authkey=${this.options.authKey}`,
      `--hostname=${this.name}`,
      `--accept-routes=${this.options.acceptRoutes ?? false}`,
      "--timeout=30s",
    );
    const status = JSON.parse(await this.tailscale("status", "--json"));
    [this.ip, this.ipv6] = status.Self.TailscaleIPs;
    await this.tailscale("serve", "--bg", "--tcp=80", `tcp://127.0.0.1:${this.port}`);
  }

  #start(name: string, command: readonly string[], env: Record<string, string> = {}): Daemon {
    if (!this.#network) throw new Error(`${this.name} was not started`);
    const inside = inNetworkOf(this.#network.pid, command);
    return this.place.daemons.start(`${name}-${this.name}`, inside, { env });
  }

  /** Starts tailscaled with the state that it has. */
  async startDaemon(): Promise<void> {
    this.#daemon = this.#start("tailscaled", [
      program("tailscaled"),
      "--tun=userspace-networking",
      `--statedir=${this.place.dir}`,
      `--socket=${this.#socket}`,
      "--port=0",
      `--outbound-http-proxy-listen=:${PROXY_PORT}`,
    ], { TS_NO_LOGS_NO_SUPPORT: "true" });
    await this.#daemon.ready(async () => (await Deno.stat(this.#socket)).isSocket);
  }

  /** Stops tailscaled: the node goes offline, and keeps its state. */
  async stopDaemon(): Promise<void> {
    await this.#daemon?.stop();
    await Deno.remove(this.#socket).catch(() => {});
  }

  /** Starts the server behind the node. */
  startServer(): void {
    const { handler, text } = this.options;
    if (this.#server || (!handler && text === undefined)) return;
    const what = handler ? `-forward=${HOST_IP}:${this.port}` : `-text=${text}`;
    if (handler) {
      const where = { hostname: HOST_IP, port: this.port, onListen: () => {} };
      this.#handler = Deno.serve(where, handler);
    }
    this.#server = this.#start("web", [program("web"), `-listen=127.0.0.1:${this.port}`, what]);
  }

  /** Stops the server behind the node: its port in the tailnet is closed. */
  async stopServer(): Promise<void> {
    await this.#server?.stop();
    await this.#handler?.shutdown();
    this.#server = this.#handler = undefined;
  }

  /** Runs `tailscale` on this node. */
  tailscale(...args: string[]): Promise<string> {
    return run([program("tailscale"), `--socket=${this.#socket}`, ...args], { timeoutMs: 45_000 });
  }

  /** Names of the peers that this node knows now. */
  async peers(): Promise<string[]> {
    const status = JSON.parse(await this.tailscale("status", "--json"));
    return Object.values(status.Peer ?? {}).map((peer) => (peer as { HostName: string }).HostName);
  }

  /** Fetches a URL through the tailnet, from this node. */
  async fetch(url: string, ...curlArgs: string[]): Promise<string> {
    return await run(["curl", "-sSf", "-m", "10", "-x", this.httpProxy, ...curlArgs, url]);
  }

  /** Its state as tailscaled says it: `Running`, `NeedsLogin`, ... */
  async state(): Promise<string> {
    const command = [program("tailscale"), `--socket=${this.#socket}`, "status", "--json"];
    return JSON.parse((await tryRun(command)).stdout).BackendState;
  }

  /** Waits until tailscaled is in that state. */
  async becomes(state: string): Promise<void> {
    await waitFor(`${this.name} is ${state}`, async () => await this.state() === state);
  }
}
