/**
 * What can go wrong between us and the Kubernetes API: one class per decision
 * that a caller takes.
 *
 * @module
 */

/** What an answer with a status of 400 or more says. */
export interface KubeApiErrorInit {
  /** HTTP status, or the `code` of a watch's `ERROR` event. */
  status: number;
  /** `Status.reason`, such as `Conflict`; empty where the server gave none. */
  reason?: string;
  /** The server's own words. */
  message: string;
  /** Method and path of the request. */
  what: string;
  /** How long the server asks us to wait, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** `Status.details.causes[].reason`, which tells some errors of one status apart. */
  causes?: readonly string[];
}

/** The API server answered, and its answer is an error. */
export class KubeApiError extends Error {
  override readonly name = "KubeApiError";
  readonly status: number;
  readonly reason: string;
  readonly what: string;
  readonly retryAfterMs?: number;
  readonly causes: readonly string[];

  constructor(init: KubeApiErrorInit) {
    const reason = init.reason ?? "";
    super(`${init.what}: ${init.status}${reason && ` ${reason}`}: ${init.message}`);
    this.status = init.status;
    this.reason = reason;
    this.what = init.what;
    this.causes = init.causes ?? [];
    if (init.retryAfterMs !== undefined) this.retryAfterMs = init.retryAfterMs;
  }
}

/** Details of a {@linkcode KubeConnectionError}. */
export interface KubeConnectionErrorOptions extends ErrorOptions {
  timedOut?: boolean;
}

/** No usable HTTP answer: refused, reset, timed out, TLS failure, cut-off or garbled body. */
export class KubeConnectionError extends Error {
  override readonly name = "KubeConnectionError";
  /** Method and path of the request. */
  readonly what: string;
  /** There was silence, rather than a failure that somebody told us of. */
  readonly timedOut: boolean;

  constructor(what: string, problem: string, options: KubeConnectionErrorOptions = {}) {
    super(`${what}: ${problem}`, options);
    this.what = what;
    this.timedOut = options.timedOut ?? false;
  }
}

/** The configuration that should lead to the API server can't be used. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}

/** What this process may do only while it leads. */
export class NotLeaderError extends Error {
  override readonly name = "NotLeaderError";

  constructor(readonly what: string) {
    super(`${what}: not sent, since this process does not lead (any more); the leader does it`);
  }
}

/** The object, or its whole kind, is not there. */
export function isNotFound(error: unknown): error is KubeApiError {
  return hasStatus(error, 404);
}

/** Another writer was first (409), be it an older resourceVersion or another field manager. */
export function isConflict(error: unknown): error is KubeApiError {
  return hasStatus(error, 409) && error.reason !== "AlreadyExists";
}

/** An object of that name is already there. */
export function isAlreadyExists(error: unknown): error is KubeApiError {
  return hasStatus(error, 409) && error.reason === "AlreadyExists";
}

/** The resourceVersion or continue token is too old: list again. */
export function isGone(error: unknown): error is KubeApiError {
  return hasStatus(error, 410) || (error instanceof KubeApiError && error.reason === "Expired");
}

/** The credential is not accepted. */
export function isUnauthorized(error: unknown): error is KubeApiError {
  return hasStatus(error, 401);
}

/** RBAC (or an admission policy) does not permit it. */
export function isForbidden(error: unknown): error is KubeApiError {
  return hasStatus(error, 403);
}

/** The object itself is refused (422), so that a retry with the same one is of no use. */
export function isInvalid(error: unknown): error is KubeApiError {
  return hasStatus(error, 422);
}

/** How long the server asks us to wait, in milliseconds; 0 where it does not. */
export function retryAfterOf(error: unknown): number {
  return error instanceof KubeApiError ? error.retryAfterMs ?? 0 : 0;
}

/**
 * The server's wish in a `Retry-After` header (RFC 9110 §10.2.3): seconds or an
 * HTTP date, as milliseconds from `now`; undefined where there is none, or where it
 * can't be read.
 *
 * @example
 * ```ts
 * import { parseRetryAfter } from "./errors.ts";
 * parseRetryAfter("37", Date.now()); // 37_000
 * ```
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function hasStatus(error: unknown, status: number): error is KubeApiError {
  return error instanceof KubeApiError && error.status === status;
}
