/**
 * Where the nodes and keys of a simulated tailnet live: in memory, or in a control
 * server that real tailscaled clients register with.
 *
 * @module
 */

/** A machine of the tailnet. Times are RFC 3339. */
export interface TailnetNode {
  /** The older, numeric id. */
  id: string;
  /** The stable id. */
  nodeId: string;
  /** MagicDNS name, without a trailing dot. */
  name: string;
  /** What the machine asked to be called. */
  hostname: string;
  addresses: string[];
  tags: string[];
  authorized: boolean;
  connected: boolean;
  created: string;
  /** Absent while connected. */
  lastSeen?: string;
  ephemeral: boolean;
  os: string;
  /** The auth key that it joined with. */
  keyId?: string;
  /** Shared in from another tailnet. */
  external?: boolean;
  expires?: string;
}

/** An auth key as the control server knows it. Times are RFC 3339. */
export interface AuthKeyRecord {
  id: string;
  /** The secret itself. */
  key: string;
  tags: string[];
  reusable: boolean;
  ephemeral: boolean;
  preauthorized: boolean;
  created: string;
  expires: string;
  description: string;
  used: boolean;
  revoked: boolean;
}

/** What the HTTP API needs of the tailnet behind it. */
export interface TailnetBackend {
  nodes(): Promise<readonly TailnetNode[]>;
  /** False when there is no such node. */
  deleteNode(nodeId: string): Promise<boolean>;
  /** Makes the control server accept a key. */
  addKey(key: AuthKeyRecord): Promise<void>;
  revokeKey(id: string): Promise<void>;
  /** With `used` as the control server saw it. */
  keys(): Promise<readonly AuthKeyRecord[]>;
  /** The node ids that advertise a service, such as `svc:web`; absent: none do. */
  serviceHosts?(service: string): Promise<readonly string[]>;
}
