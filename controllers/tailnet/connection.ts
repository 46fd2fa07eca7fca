/**
 * From the Secret that a TailscaleTailnet names to a connection to the tailnet's API.
 *
 * @module
 */
import { decodeBase64 } from "../../core/base64.ts";
import { shortHash } from "../../core/hash.ts";
import { Secret } from "../../core/secret.ts";
import type { Secret as SecretObject } from "../../api/core_objects.ts";
import { TailscaleTailnetReason as Reason } from "../../api/tailscale_tailnet.ts";
import type { TailnetConnection } from "../controller.ts";
import type { Failure } from "../world.ts";
import type { TailnetObserved } from "./observe.ts";

const DEFAULT_API_URL = "https://api.tailscale.com";

/** A Secret with an audience and no client secret asks for workload identity federation. */
function isFederated(secret: SecretObject | undefined): boolean {
  const data = secret?.data ?? {};
  return data.audience !== undefined && data.client_secret === undefined;
}

/** What is wrong with the Secret; undefined where a connection can be made of it. */
export function secretProblem({ secret, secretKey }: TailnetObserved): Failure | undefined {
  const needed = ["client_id", isFederated(secret) ? "audience" : "client_secret"];
  const bad = needed.filter((key) => !decoded(secret?.data?.[key]));
  if (bad.length === 0) return undefined;
  return {
    reason: Reason.SecretInvalid,
    message: `Secret ${secretKey} has no usable ${bad.join(" and no usable ")}. ` +
      "Each must be a non-empty text.",
  };
}

/** How to reach the API, and with what to prove who asks. */
export function connectionOf({ tailnet, secret }: TailnetObserved): TailnetConnection {
  const value = (key: string) => decoded(secret?.data?.[key]);
  const clientID = value("client_id");
  const apiURL = (tailnet.spec.apiURL ?? DEFAULT_API_URL).replace(/\/+$/, "");
  const organization = tailnet.spec.tailnet ?? "-";
  const federated = isFederated(secret);
  const proof = value(federated ? "audience" : "client_secret");
  const parts = [clientID, proof, apiURL, organization, ...(federated ? ["federated"] : [])];
  return {
    fingerprint: shortHash(parts, 16),
    apiURL,
    organization,
    clientID,
    proof: federated ? { audience: proof } : { clientSecret: new Secret(proof) },
  };
}

/** The text of a Secret's value, or "" where it is absent or no printable text. */
function decoded(value: string | undefined): string {
  const text = decodeBase64(value ?? "")?.trim() ?? "";
  return /^[\x21-\x7e]+$/.test(text) ? text : "";
}
