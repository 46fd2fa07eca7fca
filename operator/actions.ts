/**
 * Carries out what plans say: the only place where controllers' decisions
 * become requests.
 *
 * @module
 */
import { keyOf, type KubeObject, type ResourceType } from "../core/object.ts";
import { isControlledBy } from "../core/labels.ts";
import { Secret } from "../core/secret.ts";
import type { Secret as ReplicaSecret } from "../api/core_objects.ts";
import { SECRET } from "../api/resources.ts";
import type { Action, MintedKey } from "../controllers/controller.ts";
import { Index } from "../controllers/indexes.ts";
import { nodeIdsOf } from "../controllers/proxies/replica.ts";
import type { KubeClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import type { EventRecorder } from "../kube/events.ts";
import type { Log } from "../telemetry/log.ts";
import type { AuthKeys } from "./auth_keys.ts";
import type { ClusterCache } from "./cache.ts";
import { ForeignObjectError } from "./failures.ts";
import type { Tailnets } from "./tailnets.ts";

/** Options of {@linkcode ActionRunner}. */
export interface ActionRunnerOptions {
  readonly client: KubeClient;
  readonly cache: ClusterCache;
  readonly tailnets: Tailnets;
  readonly keys: AuthKeys;
  readonly events: EventRecorder;
  readonly log: Log;
  /** Throws when this replica may change nothing. */
  readonly fence?: (what: string) => void;
}

type Of<Do extends Action["do"]> = Extract<Action, { do: Do }>;

const NO_KEY: MintedKey = { id: "", key: new Secret(""), expires: "" };

/** Runs actions under one field manager. */
export class ActionRunner {
  readonly #options: ActionRunnerOptions;
  readonly #fieldManager: string;

  constructor(options: ActionRunnerOptions, fieldManager: string) {
    this.#options = options;
    this.#fieldManager = fieldManager;
  }

  /**
   * Runs one action.
   *
   * @throws the typed error of whoever refused it.
   */
  async run(action: Action): Promise<void> {
    const { tailnets, fence } = this.#options;
    fence?.(action.do);
    switch (action.do) {
      case "apply":
        return await this.#apply(action.type, action.object);
      case "delete":
        return await this.#delete(action);
      case "mintAuthKey":
        return await this.#mint(action);
      case "revokeAuthKey":
        return await tailnets.deleteAuthKey(action.tailnet, action.id);
      case "deleteDevice":
        return await this.#deleteDevice(action);
      case "openTailnet":
        return await tailnets.open(action.tailnet, action.connection);
      case "closeTailnet":
        return tailnets.close(action.tailnet);
      case "listDevices":
        return await tailnets.listDevices(action.tailnet, action.sought);
      case "event":
        return this.#event(action);
    }
  }

  async #apply(type: ResourceType, object: KubeObject): Promise<void> {
    const { client, cache, log } = this.#options;
    await this.#refuseForeign(type, object);
    const fieldManager = this.#fieldManager;
    const applied = await client.apply(type, object, { fieldManager, force: true });
    log.info("applied", { kind: type.kind, key: keyOf(object), fieldManager });
    cache.took(type, applied);
  }

  /**
   * The cache holds what carries our label. Before an object is made, a look at
   * the API server tells whether somebody else has one of that name.
   */
  async #refuseForeign(type: ResourceType, object: KubeObject): Promise<void> {
    const { client, cache } = this.#options;
    const owner = object.metadata.ownerReferences?.find((ref) => ref.controller);
    if (!owner || cache.get(type, keyOf(object))) return;
    const { name, namespace } = object.metadata;
    try {
      const found = await client.get(type, name, namespace);
      if (found.metadata.ownerReferences?.some(({ uid }) => uid === owner.uid)) return;
      throw new ForeignObjectError(`${type.kind} ${keyOf(found)}`);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async #mint(action: Of<"mintAuthKey">): Promise<void> {
    // No key is made for an object that could not be stored.
    await this.#refuseForeign(action.type, action.store(NO_KEY));
    await this.#options.keys.mint(action, (object) => this.#apply(action.type, object));
  }

  async #delete({ type, object, propagation }: Of<"delete">): Promise<void> {
    const { client, log, keys } = this.#options;
    const { name, namespace, uid } = object.metadata;
    // What goes will not store a key any more.
    await keys.settle();
    await client.delete(type, name, {
      namespace,
      uid,
      propagation: propagation ?? "Background",
    });
    log.info("deleted", { kind: type.kind, key: keyOf(object) });
  }

  /** A device that is not the replica's is left alone, and that is said. */
  async #deleteDevice({ tailnet, nodeId, hostnames, owner }: Of<"deleteDevice">): Promise<void> {
    const { tailnets, cache, events, log } = this.#options;
    const device = await tailnets.findDevice(tailnet, nodeId);
    if (!device) return; // gone already
    const claimed = cache.byIndex<ReplicaSecret>(SECRET, Index.tailnet, tailnet)
      .some((secret) =>
        nodeIdsOf(secret).includes(nodeId) && !isControlledBy(secret.metadata, owner)
      );
    if (hostnames.includes(device.hostname) && !claimed) {
      return await tailnets.deleteDevice(tailnet, nodeId);
    }
    const note =
      `Device ${device.name} (${nodeId}) is not removed: it is not, or not only, a proxy ` +
      "of this object. If nobody needs it, remove it in Tailscale's admin console.";
    log.warn("a device is not removed", { tailnet, nodeId, device: device.name });
    events.record(owner, { type: "Warning", reason: "DeviceNotRemoved", note });
  }

  #event({ regarding, type, reason, note }: Of<"event">): void {
    this.#options.events.record(regarding, { type, reason, note });
  }
}
