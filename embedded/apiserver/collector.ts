/**
 * The garbage collector, and the emptying of namespaces. The real ones run a
 * moment after a change; this one runs before the change is answered.
 *
 * @module
 */
import type { KubeObject, OwnerReference } from "../../core/object.ts";
import { type Deleter, FOREGROUND, hasFinalizer, isDeleting, ORPHAN } from "./deletion.ts";
import { clone } from "./json.ts";
import type { Change, Storage, Stored } from "./storage.ts";
import { splitApiVersion, typeId, type TypeRegistry } from "./types.ts";

interface Owners {
  /** There, and not waiting for its dependents to go. */
  readonly solid: OwnerReference[];
  readonly absent: OwnerReference[];
  /** In foreground deletion. */
  readonly waiting: OwnerReference[];
}

/** Deletes what has lost its owners, and ends foreground, orphan and namespace deletions. */
export class Collector {
  readonly #storage: Storage;
  readonly #types: TypeRegistry;
  readonly #deleter: Deleter;
  readonly #queue = new Set<string>();

  constructor(storage: Storage, types: TypeRegistry, deleter: Deleter) {
    this.#storage = storage;
    this.#types = types;
    this.#deleter = deleter;
    storage.subscribe((change) => this.#note(change));
  }

  /** Does all that the changes until now call for. */
  settle(): void {
    for (const uid of this.#queue) {
      this.#queue.delete(uid);
      const stored = this.#storage.byUid(uid);
      if (stored) this.#examine(stored);
    }
  }

  #note({ before, after }: Change): void {
    if (after && (isDeleting(after) || after.metadata.ownerReferences)) this.#look(after);
    if (after) this.#noteNamespace(after);
    for (const owner of before?.metadata.ownerReferences ?? []) this.#queue.add(owner.uid);
    if (!before || after) return;
    for (const { object } of this.#storage.dependentsOf(before.metadata.uid ?? "")) {
      this.#look(object);
    }
    this.#noteNamespace(before);
  }

  #look(object: KubeObject): void {
    if (object.metadata.uid) this.#queue.add(object.metadata.uid);
  }

  #noteNamespace(object: KubeObject): void {
    const namespaces = this.#types.byPath("", "v1", "namespaces");
    const name = object.metadata.namespace;
    const namespace = namespaces && name ? this.#storage.get(namespaces, name) : undefined;
    if (namespace && isDeleting(namespace)) this.#look(namespace);
  }

  #examine(stored: Stored): void {
    const { type, object } = stored;
    if (!isDeleting(object)) return this.#examineOwners(stored);
    if (typeId(type) === "namespaces") return this.#emptyNamespace(stored);
    if (hasFinalizer(object, ORPHAN)) return this.#orphan(stored);
    if (hasFinalizer(object, FOREGROUND)) this.#deleteDependents(stored);
  }

  #emptyNamespace({ type, object }: Stored): void {
    for (const content of this.#storage.inNamespace(object.metadata.name)) {
      if (!isDeleting(content.object)) this.#deleter.delete(content.type, content.object);
    }
    if (object.metadata.finalizers?.length) return;
    if (this.#storage.inNamespace(object.metadata.name).length === 0) {
      this.#storage.remove(type, object);
    }
  }

  #orphan({ type, object }: Stored): void {
    const uid = object.metadata.uid ?? "";
    for (const dependent of this.#storage.dependentsOf(uid)) this.#disown(dependent, [uid]);
    this.#deleter.removeFinalizer(type, object, ORPHAN);
  }

  #deleteDependents({ type, object }: Stored): void {
    const uid = object.metadata.uid ?? "";
    for (const dependent of this.#storage.dependentsOf(uid)) {
      if (!isDeleting(dependent.object)) this.#examineOwners(dependent);
    }
    const blocking = this.#storage.dependentsOf(uid).some((dependent) =>
      dependent.object.metadata.ownerReferences?.some((ref) =>
        ref.uid === uid && ref.blockOwnerDeletion
      )
    );
    if (!blocking) this.#deleter.removeFinalizer(type, object, FOREGROUND);
  }

  #examineOwners(stored: Stored): void {
    const { type, object } = stored;
    const { solid, absent, waiting } = this.#owners(object);
    const lost = [...absent, ...waiting];
    if (lost.length === 0) return;
    if (solid.length > 0) return this.#disown(stored, lost.map((ref) => ref.uid));
    const hasDependents = this.#storage.dependentsOf(object.metadata.uid ?? "").length > 0;
    const foreground = waiting.length > 0 && hasDependents;
    this.#deleter.delete(type, object, foreground ? { propagation: "Foreground" } : {});
  }

  #disown({ type, object }: Stored, uids: readonly string[]): void {
    const next = clone(object);
    const kept = (next.metadata.ownerReferences ?? []).filter((ref) => !uids.includes(ref.uid));
    if (kept.length > 0) next.metadata.ownerReferences = kept;
    else delete next.metadata.ownerReferences;
    this.#storage.put(type, next);
  }

  #owners(object: KubeObject): Owners {
    const owners: Owners = { solid: [], absent: [], waiting: [] };
    for (const ref of object.metadata.ownerReferences ?? []) {
      owners[this.#state(ref, object)].push(ref);
    }
    return owners;
  }

  #state(ref: OwnerReference, dependent: KubeObject): keyof Owners {
    // An owner of a kind that is not served can't be looked for, so it counts as there.
    if (!this.#types.byKind(ref.apiVersion, ref.kind)) return "solid";
    const owner = this.#storage.byUid(ref.uid);
    const same = owner && owner.object.metadata.name === ref.name &&
      owner.type.kind === ref.kind && owner.type.group === splitApiVersion(ref.apiVersion)[0] &&
      (!owner.type.namespaced || owner.object.metadata.namespace === dependent.metadata.namespace);
    if (!same) return "absent";
    return isDeleting(owner.object) && hasFinalizer(owner.object, FOREGROUND) ? "waiting" : "solid";
  }
}
