/** A tailnet: its control server with DERP and STUN, and real nodes in it. */
import { join } from "node:path";
import { HOST_IP, NODE_PREFIX, PORTS } from "./addresses.ts";
import { type AuthKeyRecord, type ControlNode, GoTailnetBackend } from "./control_backend.ts";
import type { Daemons } from "./daemons.ts";
import { program } from "./paths.ts";
import { TailnetNode, type TailnetNodeOptions } from "./tailnet_node.ts";

export { TailnetNode, type TailnetNodeOptions };

export interface ControlOptions {
  readonly daemons: Daemons;
  readonly stateDir: string;
  /** MagicDNS domain. Default: `testbed.ts.net`. */
  readonly domain?: string;
  /** Which tailnet of several: 0, 1, ... Default: 0. */
  readonly index?: number;
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
    const tailnet = this.options.index ?? 0;
    const number = this.#nodes.length + 1;
    const { key } = options.authKey === undefined
      ? await this.mintKey({ tags: [...options.tags ?? []] })
      : { key: options.authKey };
    const node = new TailnetNode({ ...options, authKey: key }, {
      controlURL: this.controlURL,
      daemons: this.options.daemons,
      dir: join(this.options.stateDir, "tailnet", `${tailnet}-${number}-${options.name}`),
      address: `${NODE_PREFIX}.${tailnet}.${number}`,
      port: PORTS.tailnetServer + 100 * tailnet + number,
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
