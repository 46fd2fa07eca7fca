/**
 * Settings of the requests of a {@linkcode KubeClient}.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";

/** Which objects of a kind. */
export interface Selection {
  /** Default: all namespaces. */
  namespace?: string | undefined;
  /** As in `kubectl -l`. */
  labelSelector?: string | undefined;
  /** As in `kubectl --field-selector`. */
  fieldSelector?: string | undefined;
}

/** Settings of {@linkcode KubeClient.list}. */
export interface ListOptions extends Selection {
  /** Objects per page; default: all at once. */
  limit?: number | undefined;
  /** Where the page before ended. */
  continue?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** One page of a list. */
export interface ListPage<T> {
  items: T[];
  /** The version of the collection, from which a watch can go on. */
  resourceVersion: string;
  /** Set when there are more pages. */
  continue?: string;
}

/** Settings of {@linkcode KubeClient.watch}. */
export interface WatchOptions extends Selection {
  resourceVersion: string;
  /** After how many seconds the server ends the watch. */
  timeoutSeconds: number;
  signal: AbortSignal;
  /** Milliseconds without a byte after which the connection counts as dead. */
  idleTimeoutMs: number;
  /** Default: the client's. */
  clock?: Clock;
  /** Called when the server has accepted the watch. */
  onOpen?: () => void;
  /** Called for each chunk of bytes. */
  onBytes?: () => void;
}

/** Settings of {@linkcode KubeClient.apply}. */
export interface ApplyOptions {
  fieldManager: string;
  /** Take fields over that another manager owns. Default false: then a 409 says which. */
  force?: boolean;
  subresource?: "status";
  signal?: AbortSignal;
}

/** Settings of {@linkcode KubeClient.patch}. */
export interface PatchOptions {
  contentType: "application/merge-patch+json" | "application/json-patch+json";
  fieldManager?: string;
  subresource?: "status";
  signal?: AbortSignal;
}

/** Settings of {@linkcode KubeClient.delete}. */
export interface DeleteOptions {
  namespace?: string | undefined;
  /** Delete only this very object, not a later one of the same name (else 409). */
  uid?: string | undefined;
  propagation?: "Foreground" | "Background" | "Orphan";
  gracePeriodSeconds?: number;
  signal?: AbortSignal;
}
