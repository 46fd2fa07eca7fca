/**
 * What the hooks render, as one immutable value: the operator builds a new one when
 * the world changes and swaps it by one assignment, so that a hook needs no lock.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { Backend } from "../backends/backend.ts";
import { encodeCluster, type EncodedCluster } from "./encode_cluster.ts";
import { concat } from "./wire/splicer.ts";

export {
  clusterNameOf,
  isRouteCluster,
  parseClusterName,
  type RouteCluster,
  type RouteKind,
} from "./cluster_name.ts";
export type { EncodedCluster } from "./encode_cluster.ts";

/** What becomes of one of Envoy Gateway's clusters. */
export interface ClusterEdit {
  /** The cluster's name. */
  readonly cluster: string;
  readonly backend: Backend;
  /** Made once, when the snapshot is built. */
  readonly encoded: EncodedCluster;
  /** What of the backend Envoy would refuse, and is left out. */
  readonly problems: readonly string[];
}

/** All that the hooks know. */
export interface Snapshot {
  /** Hash of all that is rendered: equal versions answer equal bytes. */
  readonly version: string;
  /** Edits by the name of the cluster, in the order of the names. */
  readonly clusters: ReadonlyMap<string, ClusterEdit>;
  /** By Gateway (`namespace/name`), the hash of what the hooks render for it. */
  readonly gateways: ReadonlyMap<string, string>;
}

/** One cluster of {@linkcode SnapshotInput}. */
export interface ClusterInput {
  /** The cluster's name, as {@linkcode clusterNameOf} gives it. */
  readonly cluster: string;
  readonly backend: Backend;
  /** The Gateways (`namespace/name`) whose Envoys have the cluster. */
  readonly gateways: readonly string[];
}

/** What a snapshot is built from; the order of its lists does not matter. */
export interface SnapshotInput {
  readonly clusters: readonly ClusterInput[];
}

/**
 * Builds a snapshot. Edits of `previous` whose backend is still the same are taken
 * over, encoded bytes and all.
 *
 * @throws {DuplicateClusterError} when two backends claim one cluster.
 */
export function buildSnapshot(input: SnapshotInput, previous?: Snapshot): Snapshot {
  const clusters = new Map<string, ClusterEdit>();
  const digests = new Map<string, Uint8Array[]>();
  const all: Uint8Array[] = [];
  for (const entry of inOrder(input.clusters)) {
    if (clusters.has(entry.cluster)) throw new DuplicateClusterError(entry.cluster);
    const edit = editOf(entry, previous?.clusters.get(entry.cluster));
    clusters.set(entry.cluster, edit);
    all.push(edit.encoded.digest);
    for (const gateway of new Set(entry.gateways)) {
      const list = digests.get(gateway);
      if (list) list.push(edit.encoded.digest);
      else digests.set(gateway, [edit.encoded.digest]);
    }
  }
  const gateways = new Map<string, string>();
  for (const name of [...digests.keys()].sort()) gateways.set(name, hashOf(digests.get(name)!));
  const version = hashOf(all, [...gateways].flat());
  return Object.freeze({ version, clusters, gateways });
}

/** Two backends were given for the same cluster: an error of the caller's. */
export class DuplicateClusterError extends Error {
  override readonly name = "DuplicateClusterError";

  constructor(readonly cluster: string) {
    super(`snapshot: cluster "${cluster}" is given twice; give each cluster one backend`);
  }
}

function editOf({ cluster, backend }: ClusterInput, old: ClusterEdit | undefined): ClusterEdit {
  if (old && (old.backend === backend || deepEqual(old.backend, backend))) return old;
  return Object.freeze({ cluster, backend, ...encodeCluster(cluster, backend) });
}

function inOrder(clusters: readonly ClusterInput[]): readonly ClusterInput[] {
  const sorted = clusters.every((c, i) => i === 0 || clusters[i - 1]!.cluster <= c.cluster);
  if (sorted) return clusters;
  return clusters.toSorted((a, b) => a.cluster < b.cluster ? -1 : a.cluster > b.cluster ? 1 : 0);
}

/** 16 hex digits: short enough for a `spec.revision` that people read. */
function hashOf(digests: readonly Uint8Array[], texts: readonly string[] = []): string {
  const hash = createHash("sha256");
  hash.update(concat(digests));
  for (const text of texts) hash.update(`${text}\0`);
  return hash.digest("hex").slice(0, 16);
}

/** Equality of JSON-like values; a property that is undefined counts as absent. */
function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const x = a as Record<string, unknown>, y = b as Record<string, unknown>;
  for (const key in x) if (!deepEqual(x[key], y[key])) return false;
  for (const key in y) if (x[key] === undefined && y[key] !== undefined) return false;
  return true;
}

/** Knows nothing: hooks pass everything through. */
export const emptySnapshot: Snapshot = buildSnapshot({ clusters: [] });
