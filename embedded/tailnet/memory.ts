/**
 * A tailnet that is not there: nodes and keys in memory, for unit tests and for
 * trying the operator without an account.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { nodeAddresses } from "./addresses.ts";
import type { AuthKeyRecord, TailnetBackend, TailnetNode } from "./backend.ts";
import { IdSource } from "./ids.ts";

/** A node could not join. */
export class RegistrationRefused extends Error {
  override name = "RegistrationRefused";
}

export interface MemoryTailnetOptions {
  readonly clock: Clock;
  /** MagicDNS suffix. @default "tail8eff9.ts.net" */
  readonly domain?: string;
  /** Decides the ids. @default 1 */
  readonly seed?: number;
  /** How long an ephemeral node stays after it went offline. @default 1_800_000 */
  readonly ephemeralMs?: number;
}

/** A host to reach in the tailnet. */
export interface HostOptions {
  /** A label, which gets the tailnet's suffix, or a full name. */
  readonly name: string;
  /** @default the next free one of 100.64.0.0/10 */
  readonly ip?: string;
  readonly tags?: readonly string[];
  /** Where it serves. @default 80 */
  readonly port?: number;
  /** @default "linux" */
  readonly os?: string;
  /** Shared in from another tailnet: give a full name of that one. */
  readonly external?: boolean;
}

/** A host that was added by {@linkcode MemoryTailnet.addHost}. */
export interface Host {
  readonly node: TailnetNode;
  readonly port: number;
}

/** The tailnet and its control server, in memory. */
export class MemoryTailnet implements TailnetBackend {
  readonly domain: string;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #ephemeralMs: number;
  readonly #nodes = new Map<string, TailnetNode>();
  readonly #keys = new Map<string, AuthKeyRecord>();
  readonly #hostPorts = new Map<string, number>();
  readonly #advertised = new Map<string, readonly string[]>();
  #count = 0;

  constructor(options: MemoryTailnetOptions) {
    this.domain = options.domain ?? "tail8eff9.ts.net";
    this.#clock = options.clock;
    this.#ids = new IdSource(options.seed ?? 1);
    this.#ephemeralMs = options.ephemeralMs ?? 30 * 60_000;
  }

  nodes(): Promise<readonly TailnetNode[]> {
    this.#forgetEphemeral();
    return Promise.resolve([...this.#nodes.values()].map((node) => structuredClone(node)));
  }

  deleteNode(nodeId: string): Promise<boolean> {
    return Promise.resolve(this.#forget(nodeId));
  }

  addKey(key: AuthKeyRecord): Promise<void> {
    this.#keys.set(key.id, structuredClone(key));
    return Promise.resolve();
  }

  revokeKey(id: string): Promise<void> {
    const key = this.#keys.get(id);
    if (key) key.revoked = true;
    return Promise.resolve();
  }

  keys(): Promise<readonly AuthKeyRecord[]> {
    return Promise.resolve([...this.#keys.values()].map((key) => structuredClone(key)));
  }

  serviceHosts(service: string): Promise<readonly string[]> {
    const hosts = [...this.#advertised].filter(([, services]) => services.includes(service));
    return Promise.resolve(hosts.map(([nodeId]) => nodeId));
  }

  /**
   * A machine joins with an auth key, which gives it its tags.
   *
   * @throws {RegistrationRefused} when the key is unknown, used up, revoked or expired.
   */
  register({ authKey, hostname }: { authKey: string; hostname: string }): TailnetNode {
    const key = [...this.#keys.values()].find((record) => record.key === authKey);
    const reason = this.#refusal(key);
    if (!key || reason) throw new RegistrationRefused(`node "${hostname}" may not join: ${reason}`);
    key.used = true;
    const node = this.#add({
      name: `${this.#freeLabel(hostname)}.${this.domain}`,
      hostname,
      tags: [...key.tags],
      authorized: key.preauthorized,
      ephemeral: key.ephemeral,
      keyId: key.id,
    });
    return structuredClone(node);
  }

  /** Adds a host that people and tests reach through the operator's proxies. */
  addHost({ name, ip, tags = [], port = 80, os = "linux", external = false }: HostOptions): Host {
    const label = name.split(".")[0] ?? name;
    const node = this.#add({
      name: name.includes(".") ? name : `${this.#freeLabel(label)}.${this.domain}`,
      hostname: label,
      tags: [...tags],
      os,
      ...(external ? { external } : {}),
      ...(ip === undefined ? {} : { addresses: [ip] }),
    });
    this.#hostPorts.set(node.nodeId, port);
    return { node: structuredClone(node), port };
  }

  /** The hosts that were added, with the port that each serves. */
  hosts(): Host[] {
    return [...this.#hostPorts].flatMap(([nodeId, port]) => {
      const node = this.#nodes.get(nodeId);
      return node ? [{ node: structuredClone(node), port }] : [];
    });
  }

  /** A node's connection to the control server comes back. False: no such node. */
  connect(nodeId: string): boolean {
    this.#forgetEphemeral();
    const node = this.#nodes.get(nodeId);
    if (!node) return false;
    node.connected = true;
    delete node.lastSeen;
    return true;
  }

  /** A node's connection to the control server ends. False: no such node. */
  disconnect(nodeId: string): boolean {
    const node = this.#nodes.get(nodeId);
    if (!node) return false;
    if (node.connected) node.lastSeen = this.#time();
    node.connected = false;
    return true;
  }

  /** Sets the services that a node offers to host, such as `svc:web`. */
  advertise(nodeId: string, services: readonly string[]): void {
    if (this.#nodes.has(nodeId)) this.#advertised.set(nodeId, [...services]);
  }

  #refusal(key: AuthKeyRecord | undefined): string | undefined {
    if (!key) return "the auth key is not known";
    if (key.revoked) return "the auth key was revoked";
    if (Date.parse(key.expires) <= this.#clock.now()) return "the auth key has expired";
    if (key.used && !key.reusable) return "the auth key was used before";
    return undefined;
  }

  #add(fields: Partial<TailnetNode> & { name: string; hostname: string }): TailnetNode {
    const node: TailnetNode = {
      id: "",
      nodeId: `n${this.#ids.text(10)}CNTRL`,
      addresses: this.#freeAddresses(),
      tags: [],
      authorized: true,
      connected: true,
      created: this.#time(),
      ephemeral: false,
      os: "linux",
      ...fields,
    };
    node.id = String(10_000 + this.#count);
    this.#nodes.set(node.nodeId, node);
    return node;
  }

  /** The next pair that no host was given by hand. Addresses are never used again. */
  #freeAddresses(): string[] {
    const taken = new Set([...this.#nodes.values()].flatMap((node) => node.addresses));
    for (;;) {
      const pair = nodeAddresses(++this.#count);
      if (!pair.some((address) => taken.has(address))) return pair;
    }
  }

  /** The label as Tailscale makes it: DNS characters, and `-1`, `-2` … where it is taken. */
  #freeLabel(hostname: string): string {
    const label = hostname.toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+|-+$/g, "")
      .slice(0, 60) || "node";
    const taken = new Set([...this.#nodes.values()].map((node) => node.name));
    const candidate = (n: number) => n === 0 ? label : `${label}-${n}`;
    let n = 0;
    while (taken.has(`${candidate(n)}.${this.domain}`)) n++;
    return candidate(n);
  }

  #forgetEphemeral(): void {
    const oldest = this.#clock.now() - this.#ephemeralMs;
    for (const node of this.#nodes.values()) {
      const gone = node.ephemeral && node.lastSeen && Date.parse(node.lastSeen) <= oldest;
      if (gone) this.#forget(node.nodeId);
    }
  }

  #forget(nodeId: string): boolean {
    this.#hostPorts.delete(nodeId);
    this.#advertised.delete(nodeId);
    return this.#nodes.delete(nodeId);
  }

  #time(): string {
    return new Date(this.#clock.now()).toISOString();
  }
}
