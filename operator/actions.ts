/**
 * Carries out what plans say: the only place where controllers' decisions
 * become requests.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { timestamp } from "../core/conditions.ts";
import { Annotation } from "../core/labels.ts";
import { Secret } from "../core/secret.ts";
import { keyOf, type KubeObject, type ResourceType } from "../core/object.ts";
import type { Action } from "../controllers/controller.ts";
import type { KubeClient } from "../kube/client.ts";
import { isNotFound } from "../kube/errors.ts";
import type { EventRecorder } from "../kube/events.ts";
import type { Log } from "../telemetry/log.ts";
import type { ClusterCache } from "./cache.ts";
import { ForeignObjectError } from "./failures.ts";
import type { Tailnets } from "./tailnets.ts";

/** Options of {@linkcode ActionRunner}. */
export interface ActionRunnerOptions {
  readonly client: KubeClient;
  readonly cache: ClusterCache;
  readonly tailnets: Tailnets;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly log: Log;
}

type Of<Do extends Action["do"]> = Extract<Action, { do: Do }>;

/** How long Tailscale keeps a key for which nothing else was asked. */
const DEFAULT_KEY_LIFE_MS = 90 * 24 * 3_600_000;

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
    const { tailnets } = this.#options;
    switch (action.do) {
      case "apply":
        return await this.#apply(action.type, action.object);
      case "delete":
        return await this.#delete(action);
      case "mintAuthKey":
        return await this.#mint(action);
      case "revokeAuthKey":
        return await tailnets.client(action.tailnet).deleteAuthKey(action.id);
      case "deleteDevice":
        return await tailnets.deleteDevice(action.tailnet, action.nodeId);
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

  async #delete({ type, object, propagation }: Of<"delete">): Promise<void> {
    const { client, log } = this.#options;
    const { name, namespace, uid } = object.metadata;
    await client.delete(type, name, {
      namespace,
      uid,
      propagation: propagation ?? "Background",
    });
    log.info("deleted", { kind: type.kind, key: keyOf(object) });
  }

  /** Nobody else will ever know of a key that could not be stored, so it is revoked at once. */
  async #mint({ tailnet, tags, ephemeral, description, type, store }: Of<"mintAuthKey">) {
    const { tailnets, clock, log } = this.#options;
    const client = tailnets.client(tailnet);
    const minted = await client.createAuthKey({ tags, ephemeral, description });
    const { id, expires = timestamp(clock.now() + DEFAULT_KEY_LIFE_MS) } = minted;
    const object = store({ id, key: new Secret(minted.key), expires });
    log.info("auth key made", { tailnet, id, tags });
    try {
      await this.#apply(type, object);
    } catch (error) {
      if (await this.#isStored(type, object, id)) return;
      await client.deleteAuthKey(id);
      throw error;
    }
  }

  /** Did a write reach the API server although its answer did not reach us? */
  async #isStored(type: ResourceType, object: KubeObject, id: string): Promise<boolean> {
    const { client, cache } = this.#options;
    const { name, namespace } = object.metadata;
    try {
      const found = await client.get(type, name, namespace);
      if (found.metadata.annotations?.[Annotation.authKeyId] !== id) return false;
      cache.took(type, found);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error; // unknown: the key must not be revoked under a proxy that may have it
    }
  }

  #event({ regarding, type, reason, note }: Of<"event">): void {
    this.#options.events.record(regarding, { type, reason, note });
  }
}
