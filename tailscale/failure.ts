/**
 * From an HTTP answer that is not a success to the error that says what to do.
 *
 * @module
 */
import {
  CredentialsInvalid,
  InvalidRequest,
  NameConflict,
  NotFound,
  NotOurs,
  RateLimited,
  ScopeMissing,
  TagsNotPermitted,
  type TailscaleError,
  Unavailable,
} from "./errors.ts";
import type { Reply } from "./http.ts";
import type { Redactor } from "./redact.ts";
import type { Scope } from "./scopes.ts";

/** The call that failed, as far as its errors depend on it. */
export interface FailedCall {
  readonly what: string;
  /** As in the path; "-" is the credential's own. */
  readonly tailnet: string;
  /** The scope that the call needs; its read variant for GET. */
  readonly scope?: Scope | undefined;
  /** The tags that were asked for. */
  readonly tags?: readonly string[] | undefined;
  /** The tags of the OAuth client, where known. */
  readonly grantedTags?: readonly string[] | undefined;
  /** Only a device has this: 501 is then a shared one. */
  readonly deletesDevice?: boolean | undefined;
}

interface Detail {
  what: string;
  status: number;
  retryAfterMs: number | undefined;
}

const MAX_MESSAGE = 300;
/** When a 429 somehow carries no time. */
const DEFAULT_RETRY_MS = 1_000;

/** The typed error of an answer that is not 2xx. */
export function failureOf(reply: Reply, call: FailedCall, redactor: Redactor): TailscaleError {
  const { status, retryAfterMs } = reply;
  const detail: Detail = { what: call.what, status, retryAfterMs };
  const said = saying(status, redactor.clean(serverMessage(reply.text)));
  if (status >= 300 && status < 400) return redirected(reply, detail, redactor);
  if (status === 501 && call.deletesDevice) {
    return new NotOurs(`${said}: the device is shared in from another tailnet`, detail);
  }
  if (status >= 500 || status === 408) return new Unavailable(said, detail);
  switch (status) {
    case 400:
      return refused(said, call, detail);
    case 401:
      return new CredentialsInvalid(
        `${said}. The OAuth client was deleted, or its secret changed: put a valid client_id and ` +
          "client_secret in the Secret",
        detail,
      );
    case 403:
      return forbidden(said, call, detail);
    case 404:
      return new NotFound(`${said}${tailnetAdvice(call)}`, detail);
    case 429:
      return new RateLimited(said, { ...detail, retryAfterMs: retryAfterMs ?? DEFAULT_RETRY_MS });
    default:
      return new InvalidRequest(said, detail);
  }
}

/** The error for a scope that the client lacks, in the words of every such error. */
export function scopeMissing(
  scope: Scope,
  said: string,
  detail: { what: string; status: number },
): ScopeMissing {
  return new ScopeMissing(
    scope,
    `${said}. The OAuth client lacks the scope "${scope}" (write): add it in Tailscale's admin ` +
      "console under Settings, OAuth clients",
    detail,
  );
}

/** What to change in the policy for tags that were refused. */
export function tagAdvice(
  requested: readonly string[],
  granted: readonly string[] | undefined,
): string {
  const asked = `requested ${requested.join(", ")}`;
  if (!granted) {
    return `${asked}. Each must be in the policy's tagOwners, owned by a tag of the OAuth client`;
  }
  const foreign = requested.filter((tag) => !granted.includes(tag));
  // A part of the client's tags is refused too, unless it is owned like foreign ones.
  const unowned = foreign.length > 0 ? foreign : requested;
  const owner = granted[0] ?? "tag:<a tag of the OAuth client>";
  const owners = unowned.map((tag) => `"${tag}": ["${owner}"]`).join(", ");
  const has = granted.length > 0 ? granted.join(", ") : "no tags";
  // The API does not say which of them it refuses.
  const which = unowned.length > 1 ? `At least one of ${unowned.join(", ")}` : unowned.join("");
  return `${asked}; the OAuth client has ${has}. ${which} has no owner among those. ` +
    `The policy's tagOwners needs: ${owners}`;
}

function tailnetAdvice({ tailnet }: FailedCall): string {
  return tailnet === "-" ? "" : `. If "${tailnet}" is not the tailnet's name, set tailnet to "-"`;
}

function refused(said: string, call: FailedCall, detail: Detail): TailscaleError {
  if (call.tags && /tags/i.test(said)) {
    const { tags: requested, grantedTags: granted } = call;
    return new TagsNotPermitted(
      { requested, granted },
      `${said}: ${tagAdvice(requested, granted)}`,
      detail,
    );
  }
  if (/not a service/i.test(said)) {
    return new NameConflict(
      `${said}. A device has this DNS name: rename or remove it, or name the service otherwise`,
      detail,
    );
  }
  return new InvalidRequest(said, detail);
}

function forbidden(said: string, call: FailedCall, detail: Detail): TailscaleError {
  if (call.scope) return scopeMissing(call.scope, said, detail);
  return new CredentialsInvalid(`${said}. The OAuth client may not get a token`, detail);
}

function redirected(reply: Reply, detail: Detail, redactor: Redactor): InvalidRequest {
  const to = redactor.clean(reply.location ?? "another place");
  return new InvalidRequest(
    `status ${reply.status}: redirected to ${to}, which is not followed. Set apiURL to where the ` +
      "API really is",
    detail,
  );
}

function saying(status: number, message: string): string {
  const short = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
  return short === "" ? `status ${status}` : `status ${status}: ${short}`;
}

/** What the server says: its JSON `message` and details, else the text of the page. */
export function serverMessage(body: string): string {
  const parsed = jsonObject(body);
  if (!parsed) return plainText(body);
  const texts = [parsed.message, parsed.error, parsed.error_description]
    .filter((text): text is string => typeof text === "string" && text !== "");
  const data = Array.isArray(parsed.data) ? parsed.data : [];
  const errors = data.flatMap((entry: unknown) => {
    const list: unknown = entry && typeof entry === "object" && "errors" in entry && entry.errors;
    return Array.isArray(list) ? list.filter((text) => typeof text === "string") : [];
  });
  return [...texts, ...errors].join("; ");
}

function jsonObject(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? value as Record<string, unknown> : undefined;
  } catch {
    return undefined; // An HTML page of a proxy, say: its text is the message.
  }
}

function plainText(body: string): string {
  const title = /<title>([^<]*)<\/title>/i.exec(body)?.[1];
  return (title ?? body.replace(/<[^>]*>/g, " ")).replace(/\s+/g, " ").trim();
}
