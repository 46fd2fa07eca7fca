/**
 * A call to the API before it is a request.
 *
 * @module
 */
import { NotFound } from "./errors.ts";
import type { Scope } from "./scopes.ts";

/** What to ask, and what its failures depend on. */
export interface Call {
  /** For metrics, such as `listDevices`. */
  readonly operation: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path elements after `/api/v2`, not yet encoded. */
  readonly path: readonly string[];
  /** The scope that the call needs; a GET does with its read variant. */
  readonly scope: Scope;
  readonly body?: unknown;
  /** The tags that are asked for. */
  readonly tags?: readonly string[];
  /** A 501 then means that the device is shared in from elsewhere. */
  readonly deletesDevice?: boolean;
}

/** The encoded path; the colon of `svc:web` stays, since the API's own clients send it so. */
export function pathOf(call: Pick<Call, "path">): string {
  const elements = call.path.map((part) => encodeURIComponent(part).replaceAll("%3A", ":"));
  return `/api/v2/${elements.join("/")}`;
}

/** The call in messages: `GET /api/v2/tailnet/-/devices`. */
export function whatOf(call: Pick<Call, "method" | "path">): string {
  return `${call.method} ${pathOf(call)}`;
}

/** The result, or undefined when the thing is not there. */
export async function orAbsent<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}
