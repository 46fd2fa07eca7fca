/**
 * Auth keys in the API.
 *
 * @module
 */
import { z } from "zod";
import type { Clock } from "../../core/clock.ts";
import { ApiError } from "./api_error.ts";
import type { AuthKeyRecord, TailnetBackend } from "./backend.ts";
import type { IdSource } from "./ids.ts";
import { mayGiveTags, type TagOwners } from "./policy.ts";
import type { ApiCall, Route } from "./router.ts";

const DEFAULT_EXPIRY_SECONDS = 90 * 86_400;

const keyRequest = z.object({
  capabilities: z.object({
    devices: z.object({
      create: z.object({
        reusable: z.boolean().default(false),
        ephemeral: z.boolean().default(false),
        preauthorized: z.boolean().default(false),
        tags: z.array(z.string()).nullish().transform((tags) => tags ?? []),
      }),
    }),
  }),
  expirySeconds: z.number().int().min(0).max(DEFAULT_EXPIRY_SECONDS).default(0),
  description: z.string().max(50).regex(/^[A-Za-z0-9 -]*$/).default(""),
});

export interface KeyRoutesOptions {
  readonly backend: TailnetBackend;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly tagOwners: TagOwners;
}

/** `tailnet/:tailnet/keys` and below. */
export function keyRoutes(options: KeyRoutesOptions): Route[] {
  const { backend, clock } = options;
  const all = "tailnet/:tailnet/keys";
  const one = `${all}/:id`;
  const read = { method: "GET", scope: "auth_keys", access: "read" } as const;
  const write = { scope: "auth_keys", access: "write" } as const;
  return [
    { ...write, method: "POST", pattern: all, handle: (call) => createKey(call, options) },
    { ...read, pattern: all, handle: () => listKeys(options) },
    {
      ...read,
      pattern: one,
      handle: async ({ params }) => {
        const key = await findKey(backend, params.id);
        return { ...describe(key), ...(isInvalid(key, clock.now()) ? { invalid: true } : {}) };
      },
    },
    {
      ...write,
      method: "DELETE",
      pattern: one,
      handle: async ({ params }) => {
        await backend.revokeKey((await findKey(backend, params.id)).id);
        return {};
      },
    },
  ];
}

async function listKeys({ backend, clock }: KeyRoutesOptions): Promise<unknown> {
  const good = (await backend.keys()).filter((key) => !isInvalid(key, clock.now()));
  return { keys: good.map(({ id }) => ({ id })) };
}

async function createKey(call: ApiCall, options: KeyRoutesOptions): Promise<unknown> {
  const parsed = keyRequest.safeParse(await call.json());
  if (!parsed.success) throw new ApiError(400, `invalid key: ${z.prettifyError(parsed.error)}`);
  const { capabilities: { devices: { create } }, description } = parsed.data;
  const { ids, clock, backend, tagOwners } = options;
  if (create.tags.length === 0 || !mayGiveTags(create.tags, call.grant.tags, tagOwners)) {
    const tags = create.tags.join(" ");
    throw new ApiError(400, `requested tags [${tags}] are invalid or not permitted`);
  }
  const seconds = parsed.data.expirySeconds || DEFAULT_EXPIRY_SECONDS;
  const id = `k${ids.text(10)}CNTRL`;
  const key: AuthKeyRecord = {
    id,
    key: `tskey-auth-${id}-${ids.text(24)}`,
    ...create,
    description,
    created: new Date(clock.now()).toISOString(),
    expires: new Date(clock.now() + seconds * 1000).toISOString(),
    used: false,
    revoked: false,
  };
  await backend.addKey(key);
  return { ...describe(key), key: key.key };
}

async function findKey(backend: TailnetBackend, id: string | undefined): Promise<AuthKeyRecord> {
  const key = (await backend.keys()).find((record) => record.id === id && !record.revoked);
  if (!key) throw new ApiError(404, "key not found");
  return key;
}

function isInvalid(key: AuthKeyRecord, now: number): boolean {
  return key.revoked || Date.parse(key.expires) <= now || (key.used && !key.reusable);
}

function describe(key: AuthKeyRecord): Record<string, unknown> {
  const { id, created, expires, description, reusable, ephemeral, preauthorized, tags } = key;
  return {
    id,
    created,
    expires,
    description,
    capabilities: { devices: { create: { reusable, ephemeral, preauthorized, tags } } },
  };
}
