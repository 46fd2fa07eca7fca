/**
 * What Tailscale's API answers, checked at the boundary: unknown fields pass,
 * optional ones may be missing, a wrong type is an error that says where.
 *
 * @module
 */
import { z } from "zod";
import { MalformedResponse } from "./errors.ts";

/** A machine of the tailnet, or one shared into it. */
export interface Device {
  /** The older, numeric id. */
  readonly id: string;
  /** The stable id, which tailscaled knows as its own. */
  readonly nodeId: string;
  /** MagicDNS name without a trailing dot, with the `-1` of a name conflict. */
  readonly name: string;
  /** The name that the machine asked for: without that suffix. */
  readonly hostname: string;
  readonly addresses: readonly string[];
  readonly tags: readonly string[];
  readonly connectedToControl: boolean;
  /** RFC 3339; absent while connected. */
  readonly lastSeen?: string;
  readonly authorized: boolean;
  /** Shared in from another tailnet. */
  readonly isExternal: boolean;
  /** RFC 3339; "" where unknown. */
  readonly created: string;
  /** RFC 3339; absent when it never expires. */
  readonly expires?: string;
  readonly keyExpiryDisabled?: boolean;
  readonly isEphemeral?: boolean;
}

/** A new auth key; `key` is told only once, at creation. */
export interface AuthKey {
  readonly id: string;
  readonly key: string;
  readonly expires?: string;
}

/** What can be read of an auth key later. */
export interface AuthKeyInfo {
  readonly id: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Used up, expired or revoked. */
  readonly invalid: boolean;
}

/** A Tailscale Service ("VIP service"). Fields that we do not know are kept. */
export interface VipService {
  /** `svc:` and one DNS label. */
  readonly name: string;
  /** Empty to have them chosen; on an update the present ones have to be sent again. */
  readonly addrs: readonly string[];
  /** `tcp:<n>`, or the single `do-not-validate`. */
  readonly ports: readonly string[];
  readonly tags: readonly string[];
  readonly comment?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** A node that offers to host a service. */
export interface ServiceHost {
  readonly nodeId: string;
  /** `not-approved`, `approved:auto` or `approved:manual`. */
  readonly approvalLevel: string;
  readonly configured: string;
}

/** An OAuth token, as the server gave it. */
export interface TokenReply {
  readonly token: string;
  readonly expiresInSeconds: number;
  /** Undefined when the server did not tell. */
  readonly scopes?: readonly string[];
  readonly tags?: readonly string[];
}

/** Tailscale documents one hour; taken when `expires_in` is missing. */
const DEFAULT_TOKEN_SECONDS = 3600;

// Go writes an empty list as null. A list that is missing altogether is another
// matter: where it is the answer's very content, that is an error.
const list = <T extends z.ZodType>(item: T) =>
  z.array(item).nullable().transform((items) => items ?? []);
const optionalList = <T extends z.ZodType>(item: T) =>
  z.array(item).nullish().transform((items) => items ?? []);
const optionalFlag = z.boolean().nullish().transform((flag) => flag ?? false);
const optionalText = z.string().nullish().transform((text) => text ?? "");
const optionalTime = z.string().nullish().transform((text) =>
  !text || text.startsWith("0001-01-01") ? undefined : text
);
const words = z.union([z.string(), z.array(z.string())]).nullish().transform((value) =>
  typeof value === "string" ? value.split(/[\s,]+/).filter((word) => word !== "") : value
);

type Present<T> = { [K in keyof T]: Exclude<T[K], undefined | null> };

/** Drops fields that are undefined or null. */
function present<T extends object>(fields: T): Partial<Present<T>> {
  const kept = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(kept) as Partial<Present<T>>;
}

const device = z.object({
  id: optionalText,
  nodeId: optionalText,
  name: optionalText,
  hostname: optionalText,
  addresses: optionalList(z.string()),
  tags: optionalList(z.string()),
  connectedToControl: optionalFlag,
  lastSeen: optionalTime,
  authorized: optionalFlag,
  isExternal: optionalFlag,
  created: optionalText,
  expires: optionalTime,
  keyExpiryDisabled: z.boolean().nullish(),
  isEphemeral: z.boolean().nullish(),
}).refine((d) => d.nodeId !== "" || d.id !== "", { message: "neither nodeId nor id is given" })
  .transform(
    ({ lastSeen, expires, keyExpiryDisabled, isEphemeral, ...device }): Device => ({
      ...device,
      nodeId: device.nodeId || device.id,
      name: device.name.replace(/\.$/, ""),
      ...present({ lastSeen, expires, keyExpiryDisabled, isEphemeral }),
    }),
  );

export const deviceListSchema = z.object({ devices: list(device) }).transform((r) => r.devices);

export const authKeySchema = z.object({
  id: z.string().min(1),
  key: z.string().min(1),
  expires: optionalTime,
}).transform(({ id, key, expires }): AuthKey => ({ id, key, ...present({ expires }) }));

export const authKeyListSchema = z.object({ keys: list(z.object({ id: z.string().min(1) })) })
  .transform((r) => r.keys);

export const authKeyInfoSchema = z.object({
  id: z.string().min(1),
  description: optionalText,
  invalid: optionalFlag,
  capabilities: z.object({
    devices: z.object({
      create: z.object({ tags: optionalList(z.string()) }).nullish(),
    }).nullish(),
  }).nullish(),
}).transform(({ id, description, invalid, capabilities }): AuthKeyInfo => ({
  id,
  description,
  invalid,
  tags: capabilities?.devices?.create?.tags ?? [],
}));

export const serviceSchema = z.looseObject({
  name: z.string().min(1),
  addrs: optionalList(z.string()),
  ports: optionalList(z.string()),
  tags: optionalList(z.string()),
  comment: z.string().nullish(),
  annotations: z.record(z.string(), z.string()).nullish(),
}).transform(({ comment, annotations, ...service }): VipService => ({
  ...service,
  ...present({ comment, annotations }),
}));

export const serviceListSchema = z.object({ vipServices: list(serviceSchema) })
  .transform((r) => r.vipServices);

export const serviceHostsSchema = z.object({
  hosts: list(z.object({
    stableNodeID: z.string().min(1),
    approvalLevel: optionalText,
    configured: optionalText,
  })),
}).transform((r): ServiceHost[] =>
  r.hosts.map(({ stableNodeID, ...host }) => ({ nodeId: stableNodeID, ...host }))
);

export const tokenSchema = z.object({
  // Only what can stand in a header.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.number().positive().nullish(),
  scope: words,
  tags: words,
}).transform((r): TokenReply => ({
  token: r.access_token,
  expiresInSeconds: r.expires_in ?? DEFAULT_TOKEN_SECONDS,
  ...present({ scopes: r.scope, tags: r.tags }),
}));

/**
 * The checked content of an answer.
 *
 * @throws {MalformedResponse} naming the first field that is wrong. No part of
 * the answer goes into the message, since it may hold a key.
 */
export function parseReply<T>(
  schema: z.ZodType<T>,
  reply: { readonly text: string; readonly status: number },
  what: string,
): T {
  const result = schema.safeParse(parseJson(reply, what));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = pathOf(issue?.path ?? []);
  const where = path === "" ? "the answer" : `field ${path} of the answer`;
  throw new MalformedResponse(
    path,
    `${where} is not as documented: ${issue?.message ?? "invalid"}. Is apiURL a Tailscale API?`,
    { what, status: reply.status, cause: result.error },
  );
}

function parseJson(reply: { text: string; status: number }, what: string): unknown {
  try {
    return JSON.parse(reply.text);
  } catch {
    // V8's SyntaxError quotes the text around the fault, so it is not kept.
    const bytes = reply.text.length;
    throw new MalformedResponse(
      "",
      `the answer (status ${reply.status}, ${bytes} characters) is not JSON, or only a part of it ` +
        "came. Is apiURL a Tailscale API?",
      { what, status: reply.status },
    );
  }
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === "number"
        ? `${text}[${part}]`
        : text === ""
        ? String(part)
        : `${text}.${String(part)}`,
    "",
  );
}
