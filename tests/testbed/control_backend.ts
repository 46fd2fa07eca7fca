/** The tailnet's control server, as the simulated Tailscale API needs it. */
import type { AuthKeyRecord, TailnetBackend, TailnetNode } from "../../embedded/tailnet/backend.ts";

export type { AuthKeyRecord };

/** A node, with what only the control server knows. */
export interface ControlNode extends TailnetNode {
  /** Tailscale Services that it says it serves. */
  services?: string[];
}

export interface ControlService {
  name: string;
  addrs?: string[];
  ports?: string[];
  tags?: string[];
}

/** A node that says it serves a service. */
export interface ControlServiceHost {
  stableNodeID: string;
  approvalLevel: string;
  configured: string;
  /** It carries the service's addresses now. */
  active: boolean;
}

/** The control server answered otherwise than expected. */
export class ControlError extends Error {
  override name = "ControlError";
}

/** Nodes, keys and services of one control server, over its `/admin/` API. */
export class GoTailnetBackend implements TailnetBackend {
  /** @param url base of the control server, such as `http://10.244.0.1:16404` */
  constructor(readonly url: string) {}

  nodes(): Promise<ControlNode[]> {
    return this.#json("GET", "/admin/nodes");
  }

  /** Removes a node: peers forget it, and it has to log in anew. False: there was none. */
  async deleteNode(nodeId: string): Promise<boolean> {
    return await this.#ask("DELETE", `/admin/nodes/${encodeURIComponent(nodeId)}`) !== undefined;
  }

  async addKey(key: AuthKeyRecord): Promise<void> {
    await this.#json("POST", "/admin/keys", key);
  }

  async revokeKey(id: string): Promise<void> {
    await this.#ask("DELETE", `/admin/keys/${encodeURIComponent(id)}`);
  }

  keys(): Promise<AuthKeyRecord[]> {
    return this.#json("GET", "/admin/keys");
  }

  /** Lets a node in or not, or ends its node key (it must log in anew, and keeps its identity). */
  async changeNode(nodeId: string, verb: "authorize" | "deauthorize" | "expire"): Promise<void> {
    await this.#ask("POST", `/admin/nodes/${encodeURIComponent(nodeId)}/${verb}`);
  }

  services(): Promise<ControlService[]> {
    return this.#json("GET", "/admin/services");
  }

  /** Makes or changes a Tailscale Service; without addresses it gets some. */
  putService(service: ControlService): Promise<ControlService> {
    return this.#json("PUT", `/admin/services/${service.name}`, service);
  }

  async deleteService(name: string): Promise<void> {
    await this.#ask("DELETE", `/admin/services/${name}`);
  }

  async serviceHosts(name: string): Promise<string[]> {
    return (await this.serviceHostStates(name)).map((host) => host.stableNodeID);
  }

  /** Empty for a service that is not known. */
  async serviceHostStates(name: string): Promise<ControlServiceHost[]> {
    return JSON.parse(await this.#ask("GET", `/admin/services/${name}/hosts`) ?? "[]");
  }

  async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
    const text = await this.#ask(method, path, body);
    if (text === undefined) throw new ControlError(`${method} ${this.url}${path}: not found`);
    return JSON.parse(text);
  }

  /** Text of the answer; undefined: not found. */
  async #ask(method: string, path: string, body?: unknown): Promise<string | undefined> {
    const response = await fetch(this.url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status === 404) return undefined;
    if (!response.ok) {
      throw new ControlError(`${method} ${this.url}${path}: ${response.status} ${text.trim()}`);
    }
    return text;
  }
}
