/**
 * What a replica's state Secret says of it.
 *
 * @module
 */
import { decodeBase64 } from "../../core/base64.ts";
import { remembered } from "../../core/remembered.ts";
import type { Secret } from "../../api/core_objects.ts";

/** The text of a value, or undefined where it is absent, empty or unreadable. */
export function secretText(secret: Secret | undefined, key: string): string | undefined {
  return decodeBase64(secret?.data?.[key] ?? "") || undefined;
}

/**
 * The stable node ids of the devices that a replica has been, the present one
 * first; empty before it has logged in.
 *
 * The id stands in `device_id`, which containerboot writes, and in the current
 * profile, which tailscaled writes. Either may be missing
 * (facts: tailscale/tailscale#14080), and after a new login one may be behind.
 */
export function nodeIdsOf(secret: Secret | undefined): readonly string[] {
  return secret ? readNodeIds(secret) : [];
}

// Every look at a tailnet reads the Secrets of all its replicas.
const readNodeIds = remembered((secret: Secret): readonly string[] => {
  const ids = [secretText(secret, "device_id"), profileNodeId(secret)];
  return [...new Set(ids.flatMap((id) => id ?? []))];
});

function profileNodeId(secret: Secret | undefined): string | undefined {
  const current = secretText(secret, "_current-profile");
  const profile = current && secretText(secret, current);
  if (!profile) return undefined;
  try {
    const prefs = JSON.parse(profile) as { Config?: { NodeID?: unknown } | null } | null;
    const nodeId = prefs?.Config?.NodeID;
    return typeof nodeId === "string" && nodeId !== "" ? nodeId : undefined;
  } catch {
    return undefined; // a profile that is no JSON names no device
  }
}
