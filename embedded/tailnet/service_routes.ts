/**
 * Routes of Tailscale Services and of the nodes that host them.
 *
 * @module
 */
import { ApiError } from "./api_error.ts";
import type { TailnetBackend, TailnetNode } from "./backend.ts";
import { isAutoApproved, type ServiceApprovers } from "./policy.ts";
import type { ApiCall, Route } from "./router.ts";
import type { ServiceBook, TailnetService } from "./services.ts";

export interface ServiceRoutesOptions {
  readonly book: ServiceBook;
  readonly backend: TailnetBackend;
  readonly approvers: ServiceApprovers;
  /** What the real API was seen to answer for an empty list, beside 200. */
  readonly emptyListStatus: 200 | 404;
}

const scope = "services";
/** Both spellings are live: the documented one, and what Tailscale's own clients use. */
const SEGMENTS = ["services", "vip-services"] as const;

/** `tailnet/:tailnet/{services,vip-services}` and below. */
export function serviceRoutes(options: ServiceRoutesOptions): Route[] {
  return [...SEGMENTS.flatMap((segment) => crudRoutes(segment, options)), ...hostRoutes(options)];
}

function crudRoutes(segment: string, options: ServiceRoutesOptions): Route[] {
  const { book } = options;
  const all = `tailnet/:tailnet/${segment}`;
  const one = `${all}/:name`;
  // Without the scope the real API answers a read as if nothing were there.
  const read = { method: "GET", scope, access: "read", deniedStatus: 404 } as const;
  const write = { scope, access: "write", pattern: one } as const;
  return [
    { ...read, pattern: all, handle: () => listServices(options) },
    { ...read, pattern: one, handle: ({ params }) => book.get(params.name ?? "") },
    { ...write, method: "PUT", handle: (call) => book.put(call.params.name ?? "", call) },
    {
      ...write,
      method: "DELETE",
      handle: async ({ params }) => {
        await book.delete(params.name ?? "");
        return {};
      },
    },
  ];
}

function listServices({ book, emptyListStatus }: ServiceRoutesOptions): unknown {
  const vipServices = book.list();
  if (vipServices.length === 0 && emptyListStatus === 404) throw new ApiError(404, "not found");
  return { vipServices };
}

function hostRoutes(options: ServiceRoutesOptions): Route[] {
  const one = "tailnet/:tailnet/services/:name";
  const approval = `${one}/device/:id/approved`;
  const approvals = new Approvals(options);
  return [
    {
      method: "GET",
      pattern: `${one}/devices`,
      scope,
      access: "read",
      handle: ({ params }) => approvals.hosts(params.name ?? ""),
    },
    {
      method: "GET",
      pattern: approval,
      scope,
      access: "read",
      handle: ({ params }) => approvals.get(params.name ?? "", params.id ?? ""),
    },
    {
      method: "POST",
      pattern: approval,
      scope,
      access: "write",
      handle: (call) => approvals.set(call),
    },
  ];
}

class Approvals {
  readonly #options: ServiceRoutesOptions;
  /** `svc:web nA1…` → what somebody decided. */
  readonly #manual = new Map<string, boolean>();

  constructor(options: ServiceRoutesOptions) {
    this.#options = options;
  }

  async hosts(name: string): Promise<unknown> {
    const service = await this.#options.book.get(name);
    const advertising = await this.#options.backend.serviceHosts?.(name) ?? [];
    // Only tagged nodes may host.
    const nodes = (await this.#options.backend.nodes())
      .filter((node) => advertising.includes(node.nodeId) && node.tags.length > 0);
    const hosts = nodes.map((node) => ({
      stableNodeID: node.nodeId,
      approvalLevel: this.#level(service, node),
      configured: "ready",
    }));
    return { hosts };
  }

  async get(name: string, id: string): Promise<unknown> {
    const level = this.#level(await this.#options.book.get(name), await this.#node(id));
    return { approved: level !== "not-approved", autoApproved: level === "approved:auto" };
  }

  async set(call: ApiCall): Promise<unknown> {
    const { name = "", id = "" } = call.params;
    const body = await call.json();
    const approved = typeof body === "object" && body !== null && "approved" in body
      ? body.approved
      : undefined;
    if (typeof approved !== "boolean") throw new ApiError(400, "approved must be true or false");
    const service = await this.#options.book.get(name);
    const node = await this.#node(id);
    this.#manual.set(`${service.name} ${node.nodeId}`, approved);
    return await this.get(name, id);
  }

  #level(service: TailnetService, node: TailnetNode): string {
    const manual = this.#manual.get(`${service.name} ${node.nodeId}`);
    if (manual !== undefined) return manual ? "approved:manual" : "not-approved";
    const auto = isAutoApproved(service, node.tags, this.#options.approvers);
    return auto ? "approved:auto" : "not-approved";
  }

  async #node(id: string): Promise<TailnetNode> {
    const node = (await this.#options.backend.nodes()).find((each) => each.nodeId === id);
    if (!node) throw new ApiError(404, "device not found");
    return node;
  }
}
