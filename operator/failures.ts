/**
 * From typed errors to the words of a condition.
 *
 * @module
 */
import type { Failure } from "../controllers/world.ts";
import { KubeApiError, KubeConnectionError } from "../kube/errors.ts";
import {
  CredentialsInvalid,
  NotFound,
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

/** A failed try that only a change of configuration can mend is repeated this rarely. */
export const CONFIG_RETRY_MS = 60_000;

/**
 * What a failed action comes to. Whatever a person has to mend is not retried
 * soon; the change that mends it wakes the controller.
 */
export function failureOf(error: unknown, now: number): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const slow = { message, retryAt: now + CONFIG_RETRY_MS };
  if (error instanceof TagsNotPermitted) return { ...slow, reason: "TagsNotPermitted" };
  if (error instanceof ForeignObjectError) return { ...slow, reason: "Conflicted" };
  if (error instanceof TailnetClosedError) return { ...slow, reason: "TailnetNotReady" };
  if (error instanceof TailscaleError) {
    return { reason: "TailnetUnavailable", message, retryAt: retryAt(error.retryAfterMs, now) };
  }
  if (error instanceof KubeApiError) return kubeFailure(error, message, now);
  if (error instanceof KubeConnectionError) return { reason: "Pending", message };
  throw error; // a fault of our own: the engine logs it as such
}

function kubeFailure(error: KubeApiError, message: string, now: number): Failure {
  const refused = error.status === 403 || error.status === 422;
  return {
    // Quotas, PodSecurity and validation refuse what the object asks for.
    reason: refused ? "InvalidSpec" : "Pending",
    message,
    ...(refused ? { retryAt: now + CONFIG_RETRY_MS } : {}),
    ...(error.retryAfterMs === undefined ? {} : { retryAt: now + error.retryAfterMs }),
  };
}

function retryAt(afterMs: number | undefined, now: number): number {
  return now + (afterMs ?? 5_000);
}

/** The first tries after a failure come soon, later ones once a minute. */
const CHECK_RETRY_MS = { base: 5_000, max: 60_000 };

/** What a failed check of a credential comes to; `tries` counts the failures in a row, from 1. */
export function checkFailureOf(error: unknown, now: number, tries: number): Failure {
  const message = error instanceof Error ? error.message : String(error);
  const backoff = Math.min(CHECK_RETRY_MS.max, CHECK_RETRY_MS.base * 2 ** (tries - 1));
  const after = (ms: number) => ({ message, retryAt: now + ms });
  if (error instanceof CredentialsInvalid) {
    return { ...after(Math.max(backoff, 30_000)), reason: "CredentialsInvalid" };
  }
  if (error instanceof ScopeMissing) return { ...after(CONFIG_RETRY_MS), reason: "ScopeMissing" };
  if (error instanceof NotFound) return { ...after(CONFIG_RETRY_MS), reason: "TailnetNotFound" };
  if (error instanceof RateLimited) return { ...after(error.retryAfterMs), reason: "RateLimited" };
  if (error instanceof TailscaleError) {
    return { ...after(error.retryAfterMs ?? backoff), reason: "Unavailable" };
  }
  throw error;
}
