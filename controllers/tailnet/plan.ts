/**
 * TailscaleTailnet: opens a tailnet's API with the credential that the object
 * names, keeps the list of its devices fresh, and says how it goes.
 *
 * @module
 */
import { TailscaleTailnet, TailscaleTailnetReason as Reason } from "../../api/tailscale_tailnet.ts";
import type { Action, Plan } from "../controller.ts";
import { finalizerAction, hasFinalizer } from "../finalizer.ts";
import type { Failure, TailnetState } from "../world.ts";
import { connectionOf, secretProblem } from "./connection.ts";
import type { TailnetGone, TailnetObserved } from "./observe.ts";
import { statusOf } from "./status.ts";

/** How often devices are listed at rest. */
export const REST_PERIOD_MS = 10 * 60_000;
/** How often while a replica is awaited. */
export const WAITING_PERIOD_MS = 30_000;
/** The least time between two tries that follow each other for any reason. */
export const LEAST_PERIOD_MS = 2_000;
/** How often it is looked whether a scope that was missing has been granted. */
export const SCOPE_PERIOD_MS = 60_000;

/** Decides for one TailscaleTailnet. */
export function planTailnet(o: TailnetObserved | TailnetGone, now: number): Plan {
  if ("gone" in o) return { actions: [{ do: "closeTailnet", tailnet: o.gone }] };
  if (o.tailnet.metadata.deletionTimestamp) return planDeletion(o, now);
  const held: Action[] = hasFinalizer(o.tailnet) ? [] : [applyFinalizer(o, true)];
  const failure = firstRefusal(o);
  if (failure) {
    return { actions: [...held, ...closing(o)], status: statusOf(o, { failure, now }) };
  }
  const { actions, wakeAt } = planUse(o, now);
  return {
    actions: [...held, ...actions],
    ...(wakeAt === undefined ? {} : { wakeAt }),
    ...(isTried(o) || !o.tailnet.status
      ? { status: statusOf(o, { failure: useFailure(o), now }) }
      : {}),
  };
}

/**
 * Has it shown whether the tailnet can be used with the credential that it now has?
 * Before, what the status said stands: it would only be unsaid for a moment.
 */
function isTried(o: TailnetObserved): boolean {
  // Refused before anything was sent, as an `apiURL` that CEL takes and no client can use.
  if (o.failure) return true;
  if (!isOpen(o) || !o.state?.check) return false;
  return checkFailure(o.state.check) !== undefined || o.state.triedAt !== undefined;
}

/** Is the API open with the credential that the Secret now holds? */
function isOpen(o: TailnetObserved): boolean {
  return o.state?.fingerprint === connectionOf(o).fingerprint;
}

/** Opens the API, checks the credential, and keeps the devices fresh. */
function planUse(o: TailnetObserved, now: number): Pick<Plan, "actions" | "wakeAt"> {
  const tailnet = o.tailnet.metadata.name;
  const open: Action = { do: "openTailnet", tailnet, connection: connectionOf(o) };
  const list: Action = { do: "listDevices", tailnet, sought: o.replicaIds };
  const check = isOpen(o) ? o.state?.check : undefined;
  if (!check) return { actions: [open] };
  // One list is tried even where a scope is missing: after it the tailnet counts as known.
  const isListed = "failure" in check || o.state?.triedAt !== undefined;
  const failure = isListed ? checkFailure(check) : undefined;
  const retryAt = failure?.retryAt ?? check.at + WAITING_PERIOD_MS;
  const due = isSetBack(o, now) ? now : failure ? retryAt : nextListing(o, now);
  if (due > now) return { actions: [], wakeAt: due };
  // The outcome says when to come again; the time is for the case that there is none.
  return { actions: [failure ? open : list], wakeAt: now + WAITING_PERIOD_MS };
}

/** Why the tailnet cannot be used, as far as its API has told. */
function useFailure(o: TailnetObserved): Failure | undefined {
  const check = isOpen(o) ? o.state?.check : undefined;
  if (!check) {
    const message = o.failure?.message ?? "The credential is being checked.";
    return { reason: Reason.Pending, message };
  }
  const failure = checkFailure(check);
  if (failure || o.state?.fetchedAt !== undefined) return failure;
  return o.state?.triedAt === undefined
    ? { reason: Reason.Pending, message: "The devices are being listed." }
    : {
      reason: Reason.Unavailable,
      message: "The tailnet's devices could not be listed; it is tried again every 30 s.",
    };
}

/** What the check found wrong with the credential. */
function checkFailure(check: NonNullable<TailnetState["check"]>): Failure | undefined {
  if ("failure" in check) return check.failure;
  if (check.missing.length === 0) return undefined;
  return {
    reason: Reason.ScopeMissing,
    message: `The OAuth client lacks ${check.missing.join(", ")}. ` +
      "Add it to the client in Tailscale's admin console (Settings, OAuth clients).",
    retryAt: check.at + SCOPE_PERIOD_MS,
  };
}

/** Has the clock been set back? Else nothing would be done until it is where it was. */
function isSetBack({ state }: TailnetObserved, now: number): boolean {
  return Math.max(state?.check?.at ?? 0, state?.fetchedAt ?? 0, state?.triedAt ?? 0) > now;
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

function planDeletion(o: TailnetObserved, now: number): Plan {
  if (!hasFinalizer(o.tailnet)) return { actions: closing(o) };
  if (o.usedBy === 0) return { actions: [...closing(o), applyFinalizer(o, false)] };
  const refusal = firstRefusal(o);
  const message = `${o.usedBy} object(s) still name this tailnet. ` +
    "Delete them first: kubectl get tailscaleendpoints -A";
  const notReady = { reason: Reason.InUse, message };
  return {
    // The API stays open: those objects need it to remove their devices and keys.
    ...(refusal ? { actions: [] } : planUse(o, now)),
    ...(refusal || isTried(o)
      ? { status: statusOf(o, { failure: refusal ?? useFailure(o), notReady, now }) }
      : {}),
  };
}

/** A check of what the object asks for; the first that fails is what the status says. */
type Check = (o: TailnetObserved) => Failure | undefined;

const CHECKS: readonly Check[] = [
  secretExists, // the Secret that it names is there
  secretProblem, // with client_id, and client_secret or audience
];

function firstRefusal(o: TailnetObserved): Failure | undefined {
  for (const check of CHECKS) {
    const failure = check(o);
    if (failure) return failure;
  }
  return undefined;
}

function secretExists({ secret, secretKey }: TailnetObserved): Failure | undefined {
  if (secret) return undefined;
  return {
    reason: Reason.SecretNotFound,
    message: `Secret ${secretKey} is not there. Create it with the keys client_id and ` +
      "client_secret of an OAuth client, or client_id and audience of a federated identity.",
  };
}

function applyFinalizer(o: TailnetObserved, held: boolean): Action {
  return finalizerAction(TailscaleTailnet.resource, o.tailnet, held);
}

function closing({ state, tailnet }: TailnetObserved): Action[] {
  return state ? [{ do: "closeTailnet", tailnet: tailnet.metadata.name }] : [];
}
