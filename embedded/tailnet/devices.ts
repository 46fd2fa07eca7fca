/**
 * Devices in the API.
 *
 * @module
 */
import { ApiError } from "./api_error.ts";
import type { TailnetBackend, TailnetNode } from "./backend.ts";
import type { Route } from "./router.ts";

/** `tailnet/:tailnet/devices` and `device/:id`. */
export function deviceRoutes(backend: TailnetBackend): Route[] {
  const scope = "devices:core";
  return [
    {
      method: "GET",
      pattern: "tailnet/:tailnet/devices",
      scope,
      access: "read",
      handle: async ({ query }) => {
        const nodes = (await backend.nodes()).filter((node) => fits(node, query));
        return { devices: nodes.map(deviceOf) };
      },
    },
    {
      method: "GET",
      pattern: "device/:id",
      scope,
      access: "read",
      handle: async ({ params }) => deviceOf(await findNode(backend, params.id)),
    },
    {
      method: "DELETE",
      pattern: "device/:id",
      scope,
      access: "write",
      handle: async ({ params }) => {
        const node = await findNode(backend, params.id);
        if (node.external) throw new ApiError(501, "cannot delete devices outside of your tailnet");
        if (!await backend.deleteNode(node.nodeId)) throw notFound();
        return {};
      },
    },
  ];
}

/** A node as the API shows it. */
export function deviceOf(node: TailnetNode): Record<string, unknown> {
  return {
    addresses: node.addresses,
    id: node.id,
    nodeId: node.nodeId,
    user: node.tags.length > 0 ? "tagged-devices" : "user@example.com",
    name: node.name,
    hostname: node.hostname,
    ...(node.tags.length > 0 ? { tags: node.tags } : {}),
    os: node.os,
    created: node.external ? "" : node.created,
    expires: node.expires ?? "0001-01-01T00:00:00Z",
    keyExpiryDisabled: node.expires === undefined,
    authorized: node.authorized,
    isEphemeral: node.ephemeral,
    isExternal: node.external ?? false,
    connectedToControl: node.connected,
    ...(node.connected ? {} : { lastSeen: node.lastSeen ?? node.created }),
    updateAvailable: false,
    blocksIncomingConnections: false,
  };
}

async function findNode(backend: TailnetBackend, id: string | undefined): Promise<TailnetNode> {
  const node = (await backend.nodes()).find((each) => each.nodeId === id || each.id === id);
  if (!node) throw notFound();
  return node;
}

function notFound(): ApiError {
  return new ApiError(404, "device not found");
}

/** Each field that is asked for has one of the values asked for. */
function fits(node: TailnetNode, query: URLSearchParams): boolean {
  const device = deviceOf(node);
  return [...new Set(query.keys())].every((field) => {
    if (field === "fields") return true;
    const value = device[field];
    const values = (Array.isArray(value) ? value : [value]).map(String);
    return query.getAll(field).some((wanted) => values.includes(wanted));
  });
}
