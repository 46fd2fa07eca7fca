/**
 * Tokens of the operator's own ServiceAccount that prove to others who it is
 * (workload identity federation).
 *
 * @module
 */
import type { KubeClient } from "../kube/client.ts";
import { isForbidden, isNotFound, KubeApiError, KubeConnectionError } from "../kube/errors.ts";
import { requestToken } from "../kube/token_request.ts";
import { IdTokenUnavailable } from "../tailscale/errors.ts";

/**
 * Gives a fresh token for an audience.
 *
 * @throws {IdTokenUnavailable} with the cause
 */
export type IdentityTokens = (audience: string) => Promise<string>;

/** Where tokens come from. */
export interface IdentityOptions {
  readonly client: KubeClient;
  /** The operator's own ServiceAccount. */
  readonly namespace: string;
  readonly name: string;
  /** A projected token that serves where no token can be requested. */
  readonly file: string;
}

const WHAT = "workload identity";

/**
 * Tokens by TokenRequest, each for the one audience that is asked for. Where that is
 * not permitted, the projected file.
 */
export function identityTokens(options: IdentityOptions): IdentityTokens {
  const { client, namespace, name, file } = options;
  return async (audience) => {
    try {
      return await requestToken(client, { namespace, name, audiences: [audience] });
    } catch (cause) {
      const projected = isForbidden(cause) || isNotFound(cause) ? await read(file) : undefined;
      if (projected !== undefined) return projected;
      if (!(cause instanceof KubeApiError || cause instanceof KubeConnectionError)) throw cause;
      throw new IdTokenUnavailable(
        `no token of ServiceAccount ${namespace}/${name} for audience ${audience}: ` +
          `${cause.message}${advice(cause, file)}`,
        { what: WHAT, cause },
      );
    }
  };
}

/** The operator was not told of an account of its own. */
export const noIdentity: IdentityTokens = () => {
  const message = "this operator has no account of its own; use client_id and client_secret";
  return Promise.reject(new IdTokenUnavailable(message, { what: WHAT }));
};

function advice(cause: unknown, file: string): string {
  if (isNotFound(cause)) return ". Name the operator's account with --service-account";
  if (!isForbidden(cause)) return "";
  return ". Let the operator create serviceaccounts/token of that account, or mount a token " +
    `for that audience at ${file}`;
}

/** The file's text; undefined where it can't be read: the reason before is then said. */
async function read(file: string): Promise<string | undefined> {
  try {
    return (await Deno.readTextFile(file)).trim() || undefined;
  } catch {
    return undefined;
  }
}
