/** A tailnet: its control server with DERP and STUN, and real nodes in it. */
import { join } from "node:path";
import { HOST_IP, PORTS } from "./addresses.ts";
import { run, tryRun } from "./command.ts";
import { type AuthKeyRecord, type ControlNode, GoTailnetBackend } from "./control_backend.ts";
import type { Daemon, Daemons } from "./daemons.ts";
import { program } from "./paths.ts";
import { waitFor } from "./wait.ts";

export interface ControlOptions {
  readonly daemons: Daemons;
  readonly stateDir: string;
  /** MagicDNS domain. Default: `testbed.ts.net`. */
  readonly domain?: string;
  /** Which tailnet of several: 0, 1, ... Default: 0. */
  readonly index?: number;
}

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

/** One tailnet. */
export class Tailnet {
  readonly backend: GoTailnetBackend;
  readonly domain: string;
  readonly #nodes: TailnetNode[] = [];

  private constructor(private readonly options: ControlOptions, readonly controlURL: string) {
    this.backend = new GoTailnetBackend(controlURL);
    this.domain = options.domain ?? "testbed.ts.net";
  }

  /** Starts the control server. */
  static async start(options: ControlOptions): Promise<Tailnet> {
    const index = options.index ?? 0;
    const port = PORTS.control + 10 * index;
    const tailnet = new Tailnet(options, `http://${HOST_IP}:${port}`);
    const control = options.daemons.start(index === 0 ? "control" : `control-${index}`, [
      program("control"),
      `-host=${HOST_IP}`,
      `-port=${port}`,
      `-derp-port=${port + 1}`,
      `-stun-port=${port + 2}`,
      `-domain=${tailnet.domain}`,
    ]);
    await control.ready(async () => (await tailnet.backend.nodes()) !== undefined);
    return tailnet;
  }

  /** Mints an auth key that the control server takes. */
  async mintKey(options: Partial<AuthKeyRecord> = {}): Promise<AuthKeyRecord> {
    const id = `k${crypto.randomUUID().slice(0, 8)}CNTRL`;
    const key: AuthKeyRecord = {
      id,
      key: `tskey-auth-${id}-${crypto.randomUUID().replaceAll("-", "")}`,
      tags: [],
      reusable: false,
      ephemeral: false,
      preauthorized: true,
      created: new Date().toISOString(),
      expires: new Date(Date.now() + 3_600_000).toISOString(),
      description: "testbed",
      used: false,
      revoked: false,
      ...options,
    };
    await this.backend.addKey(key);
    return key;
  }

  /** Starts a node: a tailscaled in user space, with an HTTP server behind it. */
  async startNode(options: TailnetNodeOptions): Promise<TailnetNode> {
    const index = this.#nodes.length + 100 * (this.options.index ?? 0);
    const authKey = options.authKey ??
      (await this.mintKey({ tags: [...options.tags ?? []] })).key;
    const node = new TailnetNode({ ...options, authKey }, {
      tailnet: this,
      daemons: this.options.daemons,
      dir: join(this.options.stateDir, "tailnet", `${this.domain}-${index}-${options.name}`),
      port: PORTS.tailnetServer + index,
      proxyPort: PORTS.tailnetServer + 500 + index,
    });
    this.#nodes.push(node);
    await node.start();
    return node;
  }

  /** The control server's view of a node, by its hostname. */
  async nodeByHostname(hostname: string): Promise<ControlNode | undefined> {
    return (await this.backend.nodes()).find((node) => node.hostname === hostname);
  }

  /** Ends the servers that run in this process. */
  async close(): Promise<void> {
    for (const node of this.#nodes) await node.stopServer();
  }
}

interface NodePlace {
  readonly tailnet: Tailnet;
  readonly daemons: Daemons;
  readonly dir: string;
  readonly port: number;
  readonly proxyPort: number;
}

/** A real tailscaled, logged in. */
export class TailnetNode {
  readonly name: string;
  /** Its address in the tailnet, once started. */
  ip = "";
  ipv6 = "";
  #daemon: Daemon | undefined;
  #server: { stop(): Promise<void> } | undefined;

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

  /** An HTTP proxy into the tailnet, on this machine: the way of a client. */
  get httpProxy(): string {
    return `http://${HOST_IP}:${this.place.proxyPort}`;
  }

  get #socket(): string {
    return join(this.place.dir, "s");
  }

  async start(): Promise<void> {
    await Deno.mkdir(this.place.dir, { recursive: true });
    this.startServer();
    await this.startDaemon();
    await this.tailscale(
      "up",
      `--login-server=${this.place.tailnet.controlURL}`,
      `--authkey=${this.options.authKey}`,
      `--hostname=${this.name}`,
      `--accept-routes=${this.options.acceptRoutes ?? false}`,
      "--timeout=30s",
    );
    const status = JSON.parse(await this.tailscale("status", "--json"));
    [this.ip, this.ipv6] = status.Self.TailscaleIPs;
    await this.tailscale("serve", "--bg", "--tcp=80", `tcp://127.0.0.1:${this.port}`);
  }

  /** Starts tailscaled with the state that it has. */
  async startDaemon(): Promise<void> {
    this.#daemon = this.place.daemons.start(`tailscaled-${this.name}`, [
      program("tailscaled"),
      "--tun=userspace-networking",
      `--statedir=${this.place.dir}`,
      `--socket=${this.#socket}`,
      "--port=0",
      `--outbound-http-proxy-listen=${HOST_IP}:${this.place.proxyPort}`,
    ], { env: { TS_NO_LOGS_NO_SUPPORT: "true" } });
    await this.#daemon.ready(async () => (await Deno.stat(this.#socket)).isSocket);
  }

  /** Stops tailscaled: the node goes offline, and keeps its state. */
  async stopDaemon(): Promise<void> {
    await this.#daemon?.stop();
    await Deno.remove(this.#socket).catch(() => {});
  }

  startServer(): void {
    const { handler, text } = this.options;
    if (this.#server || (!handler && text === undefined)) return;
    if (handler) {
      const where = { hostname: "127.0.0.1", port: this.port, onListen: () => {} };
      const server = Deno.serve(where, handler);
      this.#server = { stop: () => server.shutdown() };
    } else {
      this.#server = this.place.daemons.start(`web-${this.name}`, [
        program("web"),
        `-listen=127.0.0.1:${this.port}`,
        `-text=${text}`,
      ]);
    }
  }

  /** Stops the server behind the node: its port in the tailnet is closed. */
  async stopServer(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
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
    const status = await tryRun([
      program("tailscale"),
      `--socket=${this.#socket}`,
      "status",
      "--json",
    ]);
    return JSON.parse(status.stdout).BackendState;
  }

  /** Waits until tailscaled is in that state. */
  async becomes(state: string): Promise<void> {
    await waitFor(`${this.name} is ${state}`, async () => await this.state() === state);
  }
}
