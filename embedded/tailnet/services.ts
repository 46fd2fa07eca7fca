/**
 * Tailscale Services ("VIP services") in the API, under both of its paths.
 *
 * @module
 */
import { z } from "zod";
import { isTailnetIPv4, serviceAddresses } from "./addresses.ts";
import { ApiError } from "./api_error.ts";
import type { TailnetBackend, TailnetNode } from "./backend.ts";
import { mayGiveTags, type TagOwners } from "./policy.ts";
import type { ApiCall } from "./router.ts";

const NAME = /^svc:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const serviceBody = z.object({
  name: z.string().regex(NAME).optional(),
  addrs: z.array(z.string()).nullish().transform((addrs) => addrs ?? []),
  ports: z.array(z.string()).nullish().transform((ports) => ports ?? []),
  tags: z.array(z.string()).nullish().transform((tags) => tags ?? []),
  comment: z.string().optional(),
  displayName: z.string().max(64).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

/** A service as it is kept and shown. */
export interface TailnetService {
  name: string;
  addrs: string[];
  ports: string[];
  tags: string[];
  comment?: string | undefined;
  displayName?: string | undefined;
  annotations?: Record<string, string> | undefined;
}

/** The services of a tailnet, and the rules for changing them. */
export class ServiceBook {
  readonly #services = new Map<string, TailnetService>();
  readonly #backend: TailnetBackend;
  readonly #tagOwners: TagOwners;
  #count = 0;

  constructor(options: { backend: TailnetBackend; tagOwners: TagOwners }) {
    this.#backend = options.backend;
    this.#tagOwners = options.tagOwners;
  }

  list(): TailnetService[] {
    return [...this.#services.values()];
  }

  /** @throws {ApiError} 404, or 400 when a device has the name. */
  async get(name: string): Promise<TailnetService> {
    refuseDeviceName(name, await this.#backend.nodes());
    const service = this.#services.get(name);
    if (!service) throw new ApiError(404, "service not found");
    return service;
  }

  /** Creates or replaces; another name in the body renames and keeps the addresses. */
  async put(name: string, call: ApiCall): Promise<TailnetService> {
    const body = parseService(name, await call.json());
    checkPorts(body.ports);
    if (!mayGiveTags(body.tags, call.grant.tags, this.#tagOwners)) {
      const tags = body.tags.join(" ");
      throw new ApiError(400, `requested tags [${tags}] are invalid or not permitted`);
    }
    const nodes = await this.#backend.nodes();
    // From here on nothing is awaited: two requests at once must not mix.
    refuseDeviceName(body.name, nodes);
    if (body.name !== name && this.#services.has(body.name)) {
      throw new ApiError(400, `service "${body.name}" already exists`);
    }
    const old = this.#services.get(name);
    const addrs = old ? kept(old, body.addrs) : this.#choose(body.addrs, nodes);
    const service: TailnetService = { ...body, addrs };
    this.#services.delete(name);
    this.#services.set(service.name, service);
    return service;
  }

  async delete(name: string): Promise<void> {
    await this.get(name);
    this.#services.delete(name);
  }

  #choose(asked: readonly string[], nodes: readonly TailnetNode[]): string[] {
    const address = asked[0];
    if (address === undefined) return serviceAddresses(++this.#count);
    if (asked.length > 1 || !isTailnetIPv4(address)) {
      throw new ApiError(400, "at most one address may be chosen, an IPv4 one of 100.64.0.0/10");
    }
    const taken = [...nodes, ...this.list().map(({ addrs }) => ({ addresses: addrs }))]
      .some(({ addresses }) => addresses.includes(address));
    if (taken) throw new ApiError(400, `address ${address} is in use`);
    return [address, serviceAddresses(++this.#count)[1]];
  }
}

function parseService(
  name: string,
  json: unknown,
): z.output<typeof serviceBody> & { name: string } {
  if (!NAME.test(name)) throw new ApiError(400, `invalid service name "${name}"`);
  const parsed = serviceBody.safeParse(json);
  if (!parsed.success) {
    throw new ApiError(400, `invalid service: ${z.prettifyError(parsed.error)}`);
  }
  return { ...parsed.data, name: parsed.data.name ?? name };
}

function refuseDeviceName(name: string, nodes: readonly TailnetNode[]): void {
  const label = name.replace(/^svc:/, "");
  const taken = nodes.some((node) => !node.external && node.name.split(".")[0] === label);
  if (taken) throw new ApiError(400, "name exists but is not a service");
}

/** The addresses of a service that is there: they have to be sent again. */
function kept(old: TailnetService, asked: readonly string[]): string[] {
  const same = old.addrs.length === asked.length && old.addrs.every((a) => asked.includes(a));
  if (same) return old.addrs;
  throw new ApiError(400, `the service has addrs ${old.addrs.join(" ")}: send them again`);
}

function checkPorts(ports: readonly string[]): void {
  if (ports.length === 1 && ports[0] === "do-not-validate") return;
  const good = ports.every((port) => {
    const number = Number(/^tcp:(\d{1,5})$/.exec(port)?.[1]);
    return number >= 1 && number <= 65535;
  });
  if (ports.length === 0 || !good) {
    throw new ApiError(400, `invalid ports [${ports.join(" ")}]: tcp:<n>, or do-not-validate`);
  }
}
