/**
 * Deletion: at once, or by a mark that waits for finalizers.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import type { Clock } from "../../core/clock.ts";
import { timestamp } from "./clock.ts";
import { preconditionFailed } from "./errors.ts";
import { asObject, clone, equal, fields, mapAt } from "./json.ts";
import type { Storage } from "./storage.ts";
import { type ServedType, typeId } from "./types.ts";

export const FOREGROUND = "foregroundDeletion";
export const ORPHAN = "orphan";

/** What becomes of the objects that an object owns. */
export type Propagation = "Foreground" | "Background" | "Orphan";

/** How to delete. */
export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagation?: Propagation | undefined;
  readonly dryRun?: boolean | undefined;
}

/** The object after the deletion, and whether it is gone. */
export interface Deleted {
  readonly object: KubeObject;
  readonly gone: boolean;
}

/** Is a deletion of the object under way? */
export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata.finalizers?.includes(finalizer) ?? false;
}

/** Deletes objects from a storage. */
export class Deleter {
  readonly #storage: Storage;
  readonly #clock: Clock;

  constructor(storage: Storage, clock: Clock) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /**
   * Removes the object, or marks it when finalizers (or a namespace's content) remain.
   *
   * @throws {ApiError} 409 when a precondition fails.
   */
  delete(type: ServedType, live: KubeObject, options: DeleteOptions = {}): Deleted {
    checkPreconditions(type, live, options);
    const finalizers = finalizersFor(live, options.propagation);
    const waits = finalizers.length > 0 || typeId(type) === "namespaces";
    if (!waits) {
      return { object: options.dryRun ? live : this.#storage.remove(type, live), gone: true };
    }
    const next = this.#marked(live, finalizers);
    if (equal(next, live) || options.dryRun) return { object: next, gone: false };
    return { object: this.#storage.put(type, next), gone: false };
  }

  /** Stores the object without a finalizer; removes it when that was what it waited for. */
  removeFinalizer(type: ServedType, live: KubeObject, finalizer: string): void {
    const finalizers = (live.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    const next = withFinalizers(live, finalizers);
    if (finalizers.length === 0 && isDeleting(live)) this.#storage.remove(type, live);
    else this.#storage.put(type, next);
  }

  #marked(live: KubeObject, finalizers: string[]): KubeObject {
    const next = withFinalizers(live, finalizers);
    if (isDeleting(live)) return next;
    next.metadata.deletionTimestamp = timestamp(this.#clock.now());
    if (next.metadata.generation !== undefined) next.metadata.generation++;
    if (next.kind === "Namespace") {
      return asObject({ ...fields(next), status: { phase: "Terminating" } });
    }
    const metadata = mapAt(fields(next), "metadata");
    if (metadata) metadata["deletionGracePeriodSeconds"] = 0;
    return next;
  }
}

function withFinalizers(live: KubeObject, finalizers: string[]): KubeObject {
  const next = clone(live);
  if (finalizers.length > 0) next.metadata.finalizers = finalizers;
  else delete next.metadata.finalizers;
  return next;
}

function finalizersFor(live: KubeObject, propagation: Propagation | undefined): string[] {
  const had = live.metadata.finalizers ?? [];
  if (propagation === undefined) return had;
  const others = had.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  if (propagation === "Foreground") return [...others, FOREGROUND];
  return propagation === "Orphan" ? [...others, ORPHAN] : others;
}

function checkPreconditions(type: ServedType, live: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion, name } = live.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record ` +
      `(${uid}). The object might have been deleted and then recreated`;
    throw preconditionFailed(type, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not ` +
      `match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw preconditionFailed(type, name, why);
  }
}
