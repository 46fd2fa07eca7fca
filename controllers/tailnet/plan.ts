/**
 * TailscaleTailnet: opens a tailnet's API with the credential that the object
 * names, keeps the list of its devices fresh, and says how it goes.
 *
 * @module
 */
import { decodeBase64 } from "../../core/base64.ts";
import { conditionsFrom, no, type Verdict, yes } from "../../core/conditions.ts";
import type { TailnetDevice } from "../../core/device.ts";
import { shortHash } from "../../core/hash.ts";
import { Secret } from "../../core/secret.ts";
import { TailscaleTailnet, TailscaleTailnetReason as Reason } from "../../api/tailscale_tailnet.ts";
import type { Action, Plan, TailnetConnection } from "../controller.ts";
import { IDLE } from "../controller.ts";
import { finalizerAction, hasFinalizer } from "../finalizer.ts";
import type { Failure } from "../world.ts";
import type { TailnetObserved } from "./observe.ts";

/** How often devices are listed at rest. */
export const REST_PERIOD_MS = 10 * 60_000;
/** How often while a replica is awaited. */
export const WAITING_PERIOD_MS = 30_000;
/** The least time between two tries that follow each other for any reason. */
export const LEAST_PERIOD_MS = 2_000;

const DEFAULT_API_URL = "https://api.tailscale.com";

/** Decides for one TailscaleTailnet. */
export function planTailnet(o: TailnetObserved, now: number): Plan {
  if (o.tailnet.metadata.deletionTimestamp) return planDeletion(o, now);
  const held: Action[] = hasFinalizer(o.tailnet) ? [] : [applyFinalizer(o, true)];
  const refused = firstRefusal(o);
  if (refused) {
    const close: Action[] = o.state ? [closeTailnet(o)] : [];
    return { actions: [...held, ...close], status: statusOf(o, refused, now) };
  }
  const connection = connectionOf(o);
  if (!connection || o.state?.fingerprint !== connection.fingerprint) {
    return {
      actions: [...held, ...(connection ? [openTailnet(o, connection)] : [])],
      ...firstStatus(o, now),
    };
  }
  return planOpen(o, held, { connection, now });
}

const PENDING: Failure = {
  reason: Reason.Pending,
  message: "The credential is being checked.",
};

/** While nothing is known: a word for a new object, and for others what was said before. */
function firstStatus(o: TailnetObserved, now: number): Pick<Plan, "status"> {
  return o.tailnet.status ? {} : { status: statusOf(o, PENDING, now) };
}

/** The tailnet is open with the right credential: check it and keep its devices fresh. */
function planOpen(
  o: TailnetObserved,
  held: readonly Action[],
  { connection, now }: { connection: TailnetConnection; now: number },
): Plan {
  const check = o.state?.check;
  if (!check || "failure" in check) {
    const retryAt = check?.failure.retryAt ?? now;
    return {
      actions: retryAt <= now ? [...held, openTailnet(o, connection)] : held,
      ...(check ? { status: statusOf(o, check.failure, now) } : firstStatus(o, now)),
      ...(retryAt > now ? { wakeAt: retryAt } : {}),
    };
  }
  const listAt = nextListing(o, now);
  const list: Action[] = listAt <= now
    ? [{ do: "listDevices", tailnet: o.tailnet.metadata.name, sought: o.replicaIds }]
    : [];
  const failure = scopeFailure(check.missing);
  return {
    actions: [...held, ...list],
    ...(o.state?.triedAt === undefined
      ? firstStatus(o, now)
      : { status: statusOf(o, failure, now) }),
    wakeAt: listAt <= now ? now + WAITING_PERIOD_MS : listAt,
  };
}

/** When the devices are to be listed next. */
export function nextListing(o: TailnetObserved, now: number): number {
  const { fetchedAt, triedAt, soughtIds } = o.state ?? {};
  if (fetchedAt === undefined) return triedAt === undefined ? now : triedAt + WAITING_PERIOD_MS;
  const last = Math.max(fetchedAt, triedAt ?? 0);
  // An id that no list was asked about yet has just appeared: its device is new.
  const fresh = o.replicaIds.some((id) => !soughtIds?.has(id));
  if (fresh) return last + LEAST_PERIOD_MS;
  return last + (o.waiting ? WAITING_PERIOD_MS : REST_PERIOD_MS);
}

function scopeFailure(missing: readonly string[]): Failure | undefined {
  if (missing.length === 0) return undefined;
  return {
    reason: Reason.ScopeMissing,
    message: `The OAuth client lacks ${missing.join(", ")}. ` +
      "Add it to the client in Tailscale's admin console (Settings, OAuth clients).",
  };
}

function planDeletion(o: TailnetObserved, now: number): Plan {
  if (!hasFinalizer(o.tailnet)) return o.state ? { actions: [closeTailnet(o)] } : IDLE;
  if (o.usedBy > 0) {
    const message = `${o.usedBy} object(s) still name this tailnet. ` +
      "Delete them first: kubectl get tailscaleendpoints -A";
    // The API stays open: those objects need it to remove their devices and keys.
    return {
      ...planUse(o, now),
      status: statusOf(o, { reason: Reason.InUse, message }, now),
    };
  }
  return { actions: [...(o.state ? [closeTailnet(o)] : []), applyFinalizer(o, false)] };
}

/** What keeps the API usable while the object waits for its users to go. */
function planUse(o: TailnetObserved, now: number): Pick<Plan, "actions" | "wakeAt"> {
  const connection = firstRefusal(o) ? undefined : connectionOf(o);
  if (!connection) return { actions: [] };
  if (o.state?.fingerprint !== connection.fingerprint) {
    return { actions: [openTailnet(o, connection)] };
  }
  const { actions, wakeAt } = planOpen(o, [], { connection, now });
  return { actions, ...(wakeAt === undefined ? {} : { wakeAt }) };
}

/** A check of what the object asks for; the first that fails is what the status says. */
type Check = (o: TailnetObserved) => Failure | undefined;

const CHECKS: readonly Check[] = [
  supported, // nothing is asked for that no controller does yet
  secretExists, // the Secret that it names is there
  secretHasKeys, // with client_id and client_secret
];

function firstRefusal(o: TailnetObserved): Failure | undefined {
  for (const check of CHECKS) {
    const failure = check(o);
    if (failure) return failure;
  }
  return undefined;
}

function supported({ tailnet }: TailnetObserved): Failure | undefined {
  const { allowedNamespaces, allowedTags } = tailnet.spec;
  const asked = [
    ...(allowedNamespaces && allowedNamespaces.from !== "All" ? ["spec.allowedNamespaces"] : []),
    ...(allowedTags?.length ? ["spec.allowedTags"] : []),
  ];
  if (asked.length === 0) return undefined;
  return {
    reason: Reason.NotSupported,
    message: `${asked.join(" and ")}: not supported yet. Remove it to use this tailnet.`,
  };
}

function secretExists({ secret, secretKey }: TailnetObserved): Failure | undefined {
  if (secret) return undefined;
  return {
    reason: Reason.SecretNotFound,
    message: `Secret ${secretKey} is not there. Create it with the keys client_id and ` +
      "client_secret of an OAuth client.",
  };
}

function secretHasKeys({ secret, secretKey }: TailnetObserved): Failure | undefined {
  const data = secret?.data ?? {};
  if (data.audience) {
    return {
      reason: Reason.NotSupported,
      message: `Secret ${secretKey} has the key audience: workload identity federation is not ` +
        "supported yet. Use client_id and client_secret.",
    };
  }
  const bad = ["client_id", "client_secret"].filter((key) => !decoded(data[key]));
  if (bad.length === 0) return undefined;
  return {
    reason: Reason.SecretInvalid,
    message: `Secret ${secretKey} has no usable ${bad.join(" and no usable ")}. ` +
      "Each must be a non-empty text.",
  };
}

/** The text of a Secret's value, or "" where it is absent or no printable text. */
function decoded(value: string | undefined): string {
  const text = decodeBase64(value ?? "")?.trim() ?? "";
  return /^[\x21-\x7e]+$/.test(text) ? text : "";
}

function connectionOf({ tailnet, secret }: TailnetObserved): TailnetConnection | undefined {
  if (!secret) return undefined;
  const clientID = decoded(secret.data?.client_id);
  const clientSecret = decoded(secret.data?.client_secret);
  const apiURL = (tailnet.spec.apiURL ?? DEFAULT_API_URL).replace(/\/+$/, "");
  const organization = tailnet.spec.tailnet ?? "-";
  return {
    fingerprint: shortHash([clientID, clientSecret, apiURL, organization], 16),
    apiURL,
    organization,
    clientID,
    clientSecret: new Secret(clientSecret),
  };
}

const applyFinalizer = (o: TailnetObserved, held: boolean): Action =>
  finalizerAction(TailscaleTailnet.resource, o.tailnet, held);

const closeTailnet = (o: TailnetObserved): Action => ({
  do: "closeTailnet",
  tailnet: o.tailnet.metadata.name,
});

const openTailnet = (o: TailnetObserved, connection: TailnetConnection): Action => ({
  do: "openTailnet",
  tailnet: o.tailnet.metadata.name,
  connection,
});

/** The MagicDNS suffix that the tailnet's own devices have; undefined where there is none. */
export function magicDNSSuffix(devices: readonly TailnetDevice[]): string | undefined {
  const own = devices.find((device) => !device.isExternal && device.name.includes("."));
  return own?.name.slice(own.name.indexOf(".") + 1);
}

function statusOf(
  o: TailnetObserved,
  failure: Failure | undefined,
  now: number,
): Status {
  const { state, tailnet } = o;
  const check = state?.check && "scopes" in state.check ? state.check : undefined;
  return {
    ...deviceFacts(o),
    ...(check && state && o.secret
      ? {
        credential: {
          clientID: state.clientID,
          secretResourceVersion: o.secret.metadata.resourceVersion ?? "",
          scopes: [...check.scopes],
          missingScopes: [...check.missing],
        },
      }
      : {}),
    usedBy: o.usedBy,
    conditions: conditionsFrom(verdictsOf(failure, o), tailnet.status?.conditions, {
      now,
      generation: tailnet.metadata.generation,
    }),
  };
}

type Status = NonNullable<TailscaleTailnet["status"]>;

/** What the list of devices tells; what was told before while none was read. */
function deviceFacts(
  { state, tailnet }: TailnetObserved,
): Pick<Status, "tailnetInfo" | "deviceCount" | "connectedDevices"> {
  if (state?.fetchedAt === undefined) {
    const { tailnetInfo, deviceCount, connectedDevices } = tailnet.status ?? {};
    return {
      ...(tailnetInfo ? { tailnetInfo } : {}),
      ...(deviceCount === undefined ? {} : { deviceCount }),
      ...(connectedDevices === undefined ? {} : { connectedDevices }),
    };
  }
  const suffix = magicDNSSuffix(state.devices);
  return {
    ...(suffix ? { tailnetInfo: { name: suffix, magicDNSSuffix: suffix } } : {}),
    deviceCount: state.devices.length,
    connectedDevices: state.devices.filter((device) => device.connectedToControl).length,
  };
}

/** The credential was accepted, even where something else is amiss. */
const AFTER_AUTHENTICATION: ReadonlySet<string> = new Set([Reason.ScopeMissing, Reason.InUse]);

function verdictsOf(failure: Failure | undefined, o: TailnetObserved): Verdict[] {
  const accepted = yes(
    "Authenticated",
    Reason.Authenticated,
    `The OAuth client ${o.state?.clientID ?? ""} was accepted.`,
  );
  if (!failure) return [accepted, yes("Ready", Reason.Ready, "The tailnet can be used.")];
  const authenticated = AFTER_AUTHENTICATION.has(failure.reason) && o.state?.check &&
    "scopes" in o.state.check;
  const { reason, message } = failure;
  return [
    authenticated ? accepted : no("Authenticated", reason, message),
    no("Ready", reason, message),
  ];
}
