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

/**
 * The organisation that the replica's tailscaled logged in to, from the network profile
 * that it keeps since 1.56 (`ipn.LoginProfile`); undefined where it keeps none.
 */
export function organizationIn(secret: Secret | undefined): string | undefined {
  const current = secretText(secret, "_current-profile");
  const profiles = current && jsonOf(secretText(secret, "_profiles"));
  if (!profiles) return undefined;
  const profile = Object.values(profiles).find((each) => recordOf(each)?.Key === current);
  const name = recordOf(recordOf(profile)?.NetworkProfile)?.DomainName;
  return typeof name === "string" && name !== "" ? name : undefined;
}

function profileNodeId(secret: Secret | undefined): string | undefined {
  const current = secretText(secret, "_current-profile");
  const profile = current && secretText(secret, current);
  const nodeId = recordOf(jsonOf(profile)?.Config)?.NodeID;
  return typeof nodeId === "string" && nodeId !== "" ? nodeId : undefined;
}

function jsonOf(text: string | undefined): Record<string, unknown> | undefined {
  try {
    return recordOf(JSON.parse(text ?? ""));
  } catch {
    return undefined; // what is no JSON tells nothing
  }
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : undefined;
}
