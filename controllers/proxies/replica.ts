/**
 * What a replica's state Secret says of it.
 *
 * @module
 */
import { decodeBase64 } from "../../core/base64.ts";
import type { SecretObject } from "./live.ts";

/** The text of a value, or undefined where it is absent, empty or unreadable. */
export function secretText(secret: SecretObject | undefined, key: string): string | undefined {
  return decodeBase64(secret?.data?.[key] ?? "") || undefined;
}

/** What is known of a replica's login. */
export interface ReplicaState {
  /** The device's stable node id, once there is one. */
  readonly nodeId?: string;
  /** The uid of the pod that wrote the state. */
  readonly podUid?: string;
}

/**
 * Reads a state Secret. The node id comes from `device_id`, which containerboot
 * writes, else from the current profile, which tailscaled writes: either may be
 * missing (facts: tailscale/tailscale#14080).
 */
export function replicaState(secret: SecretObject | undefined): ReplicaState {
  const nodeId = secretText(secret, "device_id") ?? profileNodeId(secret);
  const podUid = secretText(secret, "pod_uid");
  return { ...(nodeId ? { nodeId } : {}), ...(podUid ? { podUid } : {}) };
}

function profileNodeId(secret: SecretObject | undefined): string | undefined {
  const current = secretText(secret, "_current-profile");
  const profile = current && secretText(secret, current);
  if (!profile) return undefined;
  try {
    const nodeId = (JSON.parse(profile) as { Config?: { NodeID?: unknown } }).Config?.NodeID;
    return typeof nodeId === "string" && nodeId !== "" ? nodeId : undefined;
  } catch {
    return undefined; // a profile that is no JSON names no device
  }
}
