/**
 * From typed errors to the words of a condition, and to the time of the next try.
 *
 * @module
 */
import type { Failure } from "../controllers/world.ts";
import { type BackoffLimits, backoffMs } from "../kube/backoff.ts";
import { KubeApiError, KubeConnectionError, NotLeaderError, retryAfterOf } from "../kube/errors.ts";
import {
  CredentialsInvalid,
  IdTokenUnavailable,
  InvalidRequest,
  NotFound,
  NotOurs,
  RateLimited,
  ScopeMissing,
  TagsNotPermitted,
  TailscaleError,
} from "../tailscale/errors.ts";

/** An object of a name that is needed was not made for us. */
export class ForeignObjectError extends Error {
  override readonly name = "ForeignObjectError";

  constructor(readonly what: string) {
    super(
      `Not made for this object, so not touched: ${what}. Delete or rename it, or this object.`,
    );
  }
}

/** A tailnet is used whose API is not open. */
export class TailnetClosedError extends Error {
  override readonly name = "TailnetClosedError";

  constructor(readonly tailnet: string) {
    super(
      `TailscaleTailnet ${tailnet} is not ready. See: kubectl describe tailscaletailnet ${tailnet}`,
    );
  }
}

/** A {@linkcode Failure} that says when to try again. */
export type TimedFailure = Failure & { readonly retryAt: number };

/** When something failed, and for which time in a row. */
export interface Attempt {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Counted from 1. */
  readonly tries: number;
  /** For jitter, in [0, 1). */
  readonly random: number;
}

/** A failed try that only a change of configuration can mend is repeated this rarely. */
export const CONFIG_RETRY_MS = 60_000;
/** What passes by itself in the cluster is soon noticed to have passed. */
const CLUSTER_BACKOFF: BackoffLimits = { baseMs: 500, maxMs: 10_000 };
/** Tailscale's API is called sparingly. */
const TAILSCALE_BACKOFF: BackoffLimits = { baseMs: 5_000, maxMs: 60_000 };
/** A refused credential is tried this often, for its cause may lie with Tailscale. */
const REFUSED_BACKOFF: BackoffLimits = { baseMs: 60_000, maxMs: 60_000 };

/** The time of the next try after a failure in the cluster that passes by itself. */
export function clusterRetryAt(error: unknown, { now, tries, random }: Attempt): number {
  return now + Math.max(retryAfterOf(error), backoffMs(CLUSTER_BACKOFF, tries, random));
}

/**
 * What a failed action comes to. Whatever a person has to mend is not retried
 * soon; the change that mends it wakes the controller.
 *
 * @throws the error itself where it is a fault of our own.
 */
export function failureOf(error: unknown, attempt: Attempt): TimedFailure {
  const message = error instanceof Error ? error.message : String(error);
  const slow = { message, retryAt: attempt.now + CONFIG_RETRY_MS };
  const soon = { message, retryAt: clusterRetryAt(error, attempt) };
  if (error instanceof TagsNotPermitted) return { ...slow, reason: "TagsNotPermitted" };
  if (error instanceof ForeignObjectError) return { ...slow, reason: "Conflicted" };
  // The tailnet's own retries mend it, and then wake who waits for it.
  if (error instanceof TailnetClosedError) return { ...soon, reason: "TailnetNotReady" };
  if (error instanceof CredentialsInvalid) return { ...soon, reason: "TailnetNotReady" };
  if (error instanceof ScopeMissing) return { ...slow, reason: "TailnetNotReady" };
  if (error instanceof InvalidRequest || error instanceof NotOurs) {
    return { ...slow, reason: "TailnetUnavailable" };
  }
  if (error instanceof TailscaleError) {
    return { message, reason: "TailnetUnavailable", retryAt: tailscaleRetryAt(error, attempt) };
  }
  // The next leader does what this one may not any more.
  if (error instanceof NotLeaderError) return { ...soon, reason: "Pending" };
  if (error instanceof KubeConnectionError) return { ...soon, reason: "Pending" };
  if (!(error instanceof KubeApiError)) throw error;
  // Quotas, PodSecurity and validation refuse what the object asks for.
  const refused = error.status === 403 || error.status === 422;
  return refused ? { ...slow, reason: "InvalidSpec" } : { ...soon, reason: "Pending" };
}

/**
 * What a failed check of a credential comes to.
 *
 * @throws the error itself where it is a fault of our own.
 */
export function checkFailureOf(error: unknown, attempt: Attempt): TimedFailure {
  if (!(error instanceof TailscaleError)) throw error;
  return { ...checkFailure(error, attempt), message: error.message };
}

function checkFailure(
  error: TailscaleError,
  attempt: Attempt,
): Pick<TimedFailure, "reason" | "retryAt"> {
  const slow = attempt.now + CONFIG_RETRY_MS;
  if (error instanceof CredentialsInvalid) {
    const wait = backoffMs(REFUSED_BACKOFF, attempt.tries, attempt.random);
    return { reason: "CredentialsInvalid", retryAt: attempt.now + wait };
  }
  if (error instanceof ScopeMissing) return { reason: "ScopeMissing", retryAt: slow };
  if (error instanceof IdTokenUnavailable) {
    return { reason: "IdentityTokenFailed", retryAt: tailscaleRetryAt(error, attempt) };
  }
  if (error instanceof NotFound) return { reason: "TailnetNotFound", retryAt: slow };
  const retryAt = tailscaleRetryAt(error, attempt);
  return { reason: error instanceof RateLimited ? "RateLimited" : "Unavailable", retryAt };
}

/** Exactly when the server said, else later and later. */
function tailscaleRetryAt(error: TailscaleError, { now, tries, random }: Attempt): number {
  return now + (error.retryAfterMs ?? backoffMs(TAILSCALE_BACKOFF, tries, random));
}
