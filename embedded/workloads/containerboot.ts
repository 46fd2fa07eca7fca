/**
 * The Secrets of a proxy, as containerboot and tailscaled read and write them.
 *
 * @module
 */
import { decodeBase64, encodeBase64 } from "../../core/base64.ts";
import type { KubeObject } from "../../core/object.ts";
import type { TailnetNode } from "../tailnet/backend.ts";

/** The organisation of simulated tailnets. */
const ORGANIZATION = "example.com";

/** A Secret with its data in base64. */
export interface SecretData extends KubeObject {
  data?: Record<string, string>;
}

/** The text of a value, if it is there. */
export function textOf(secret: SecretData | undefined, key: string): string | undefined {
  return decodeBase64(secret?.data?.[key] ?? "") || undefined;
}

/** What containerboot needs of its configuration; undefined where there is none yet. */
export function readConfig(
  secret: SecretData | undefined,
): { Hostname: string; AuthKey?: string } | undefined {
  const file = textOf(secret, "cap-106.hujson");
  return file === undefined ? undefined : JSON.parse(file);
}

/** What tailscaled remembers of the tailnet that it logged in to. */
function networkOf({ name }: TailnetNode) {
  return { MagicDNSName: name.slice(name.indexOf(".") + 1), DomainName: ORGANIZATION };
}

/** What a proxy that has logged in writes into its state Secret. */
export function loginPatch(node: TailnetNode, podUid: string): { data: Record<string, string> } {
  const profile = JSON.stringify({
    Config: { NodeID: node.nodeId, UserProfile: { LoginName: node.name } },
  });
  const values = {
    _machinekey: "simulated",
    _profiles: JSON.stringify({
      "0001": { ID: "0001", Key: "profile-0001", NetworkProfile: networkOf(node) },
    }),
    "_current-profile": "profile-0001",
    "profile-0001": profile,
    device_id: node.nodeId,
    device_fqdn: `${node.name}.`,
    device_ips: JSON.stringify(node.addresses),
    pod_uid: podUid,
  };
  return {
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, encodeBase64(value)]),
    ),
  };
}
