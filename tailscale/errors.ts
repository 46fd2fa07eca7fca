/**
 * What can go wrong with Tailscale's HTTP API: one class for each decision that a
 * caller has to take. Messages say what was asked, what came back and what to do,
 * and never hold a secret.
 *
 * @module
 */

/** What every {@linkcode TailscaleError} is made from. */
export interface ErrorDetail {
  /** The request, such as `GET /api/v2/tailnet/-/devices`. */
  readonly what: string;
  /** HTTP status, where an answer came. */
  readonly status?: number | undefined;
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** Any failure of a call to Tailscale's API. */
export class TailscaleError extends Error {
  override name = "TailscaleError";
  readonly what: string;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, detail: ErrorDetail) {
    super(
      `${detail.what}: ${message}`,
      detail.cause === undefined ? undefined : { cause: detail.cause },
    );
    this.what = detail.what;
    this.status = detail.status;
    this.retryAfterMs = detail.retryAfterMs;
  }
}

/** The client id or secret is wrong, revoked or rotated: wait for the Secret to change. */
export class CredentialsInvalid extends TailscaleError {
  override name = "CredentialsInvalid";
}

/**
 * The token that is to prove our identity to Tailscale can't be had or used, so that
 * Tailscale was not asked. {@linkcode TailscaleError.cause} is why.
 */
export class IdTokenUnavailable extends TailscaleError {
  override name = "IdTokenUnavailable";
}

/** The OAuth client may not do this: an administrator has to grant {@linkcode ScopeMissing.scope}. */
export class ScopeMissing extends TailscaleError {
  override name = "ScopeMissing";
  readonly scope: string;

  constructor(scope: string, message: string, detail: ErrorDetail) {
    super(message, detail);
    this.scope = scope;
  }
}

/** The thing, or the tailnet, is not there. */
export class NotFound extends TailscaleError {
  override name = "NotFound";
}

/** The tags are malformed, or the tailnet's policy does not let this client give them. */
export class TagsNotPermitted extends TailscaleError {
  override name = "TagsNotPermitted";
  /** The tags that were asked for. */
  readonly tags: readonly string[];
  /** The tags of the OAuth client itself, where the server told them. */
  readonly granted: readonly string[] | undefined;

  constructor(
    tags: { requested: readonly string[]; granted?: readonly string[] | undefined },
    message: string,
    detail: ErrorDetail,
  ) {
    super(message, detail);
    this.tags = tags.requested;
    this.granted = tags.granted;
  }
}

/** The server understood and refused: asking again unchanged cannot help. */
export class InvalidRequest extends TailscaleError {
  override name = "InvalidRequest";
}

/** A device has the DNS name that a service asks for. */
export class NameConflict extends InvalidRequest {
  override name = "NameConflict";
}

/** The device is shared in from another tailnet: it was never ours to delete. */
export class NotOurs extends TailscaleError {
  override name = "NotOurs";
}

/** Too many calls; `retryAfterMs` is always set. */
export class RateLimited extends TailscaleError {
  override name = "RateLimited";
  override readonly retryAfterMs: number;

  constructor(message: string, detail: ErrorDetail & { retryAfterMs: number }) {
    super(message, detail);
    this.retryAfterMs = detail.retryAfterMs;
  }
}

/** No answer, or a server error: try again later. */
export class Unavailable extends TailscaleError {
  override name = "Unavailable";
}

/** An answer that is not what the API documents; nothing may be concluded from it. */
export class MalformedResponse extends TailscaleError {
  override name = "MalformedResponse";
  /** Where in the answer, such as `devices[3].tags`; "" for the whole of it. */
  readonly path: string;

  constructor(path: string, message: string, detail: ErrorDetail) {
    super(message, detail);
    this.path = path;
  }
}
