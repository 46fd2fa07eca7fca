/**
 * A small model of the world that plans are made of and carried out in: objects,
 * pods that come and go with their StatefulSets, proxies that log in, a tailnet.
 *
 * @module
 */
import { decodeBase64, encodeBase64 } from "../../core/base64.ts";
import { timestamp } from "../../core/conditions.ts";
import type { TailnetDevice } from "../../core/device.ts";
import { apiVersionOf, keyOf, type KubeObject, type ResourceType } from "../../core/object.ts";
import { Secret as Credential } from "../../core/secret.ts";
import type { Pod, Secret, Service, StatefulSet } from "../../api/core_objects.ts";
import { POD, SECRET, SERVICE, STATEFUL_SET } from "../../api/resources.ts";
import type { Action, Controller, Plan } from "../controller.ts";
import { describe } from "./describe.ts";
import { indexesOf } from "../indexes.ts";
import type { Failure, HookFacts, RenderedGateway, TailnetState, World } from "../world.ts";
import { NOW } from "./builders.ts";

const DAY_MS = 24 * 3_600_000;

/** A key that the model's tailnet has made. */
interface ModelKey {
  readonly tags: readonly string[];
  readonly description: string;
  revoked: boolean;
}

/** An object with what the types of some kinds have beside the metadata. */
type Written = KubeObject & { spec?: unknown; status?: unknown; data?: unknown };

/** The world, and what happens in it. */
export class Model {
  now = NOW;
  readonly tailnets = new Map<string, TailnetState>();
  readonly unknownTailnets = new Set<string>();
  /** The devices that the tailnet has, known or not. */
  devices: TailnetDevice[] = [];
  readonly keys = new Map<string, ModelKey>();
  readonly events: string[] = [];
  hooks: HookFacts = { failedAt: new Map(), servedHash: new Map(), lastCallAt: NOW };
  rendered: ReadonlyMap<string, RenderedGateway> | undefined;
  readonly failures = new Map<string, Failure>();
  /** By kind, by key. */
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  #version = 100;

  constructor(...objects: readonly Written[]) {
    this.put(...objects);
  }

  /** What controllers see. */
  get world(): World {
    return {
      objects: {
        get: <T extends KubeObject>(type: ResourceType, key: string) =>
          this.#objects.get(type.kind)?.get(key) as T | undefined,
        list: <T extends KubeObject>(type: ResourceType, namespace?: string) =>
          this.all<T>(type).filter(({ metadata }) =>
            !namespace || metadata.namespace === namespace
          ),
        byIndex: <T extends KubeObject>(type: ResourceType, index: string, value: string) =>
          this.all<T>(type).filter((object) => indexesOf(type)[index]?.(object).includes(value)),
      },
      tailnets: this.tailnets,
      hooks: this.hooks,
      settings: { namespace: "tailscale", proxyImage: "tailscale/tailscale:v1.98.4" },
      failure: (controller, key) => this.failures.get(`${controller} ${key}`),
      knowsTailnet: (name) => !this.unknownTailnets.has(name),
      knowsSecret: () => true,
      ...(this.rendered ? { rendered: this.rendered } : {}),
    };
  }

  /** Puts objects as they are, in place of those of their names. */
  put(...objects: readonly Written[]): this {
    for (const object of objects) {
      const ofKind = this.#objects.get(object.kind) ?? new Map<string, KubeObject>();
      this.#objects.set(object.kind, ofKind.set(keyOf(object), object));
    }
    return this;
  }

  /** The object of that kind and `namespace/name`. */
  get<T extends KubeObject>(type: ResourceType, key: string): T | undefined {
    return this.world.objects.get<T>(type, key);
  }

  /** All objects of a type. */
  all<T extends KubeObject>(type: ResourceType): T[] {
    return [...this.#objects.get(type.kind)?.values() ?? []] as T[];
  }

  /** Takes an object away. */
  remove(type: ResourceType, key: string): void {
    this.#objects.get(type.kind)?.delete(key);
  }

  /** What the controller would do now; undefined where it has nothing to observe. */
  plan(controller: Controller, key: string): Plan | undefined {
    const observed = controller.observe(this.world, key);
    return observed === undefined ? undefined : controller.plan(observed, this.now);
  }

  /**
   * Plans and acts until there is nothing to do, and keeps the status.
   *
   * @throws {Error} when there is still something to do after `rounds`.
   */
  run(controller: Controller, key: string, rounds = 6): string[] {
    const done: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const plan = this.plan(controller, key);
      if (plan?.status !== undefined) this.#keepStatus(controller, key, plan.status);
      if (!plan || plan.actions.length === 0) return done;
      for (const action of plan.actions) {
        this.carryOut(action);
        done.push(describe(action));
      }
    }
    throw new Error(`${controller.name} ${key} has still something to do: ${done.join("; ")}`);
  }

  #keepStatus(controller: Controller, key: string, status: unknown): void {
    const live = this.get(controller.type, key);
    if (live) this.put({ ...live, status });
  }

  /** Does what an action says. */
  carryOut(action: Action): void {
    switch (action.do) {
      case "apply":
        return this.#apply(action.type, action.object);
      case "delete":
        return this.#delete(action.type, keyOf(action.object));
      case "mintAuthKey": {
        const { tags, description } = action;
        const id = `key-${this.keys.size + 1}`;
        this.keys.set(id, { tags, description, revoked: false });
        const key = new Credential(`tskey-auth-${id}`);
        const expires = timestamp(this.now + 90 * DAY_MS);
        return this.#apply(action.type, action.store({ id, key, expires }));
      }
      case "revokeAuthKey": {
        const key = this.keys.get(action.id);
        if (key) key.revoked = true;
        return;
      }
      case "deleteDevice":
        this.devices = this.devices.filter(({ nodeId }) => nodeId !== action.nodeId);
        return this.#unlist(action);
      case "event":
        return void this.events.push(`${action.type} ${action.reason}: ${action.note}`);
      default:
        return this.#changeTailnet(action);
    }
  }

  /** A device that was deleted is off the list at once. */
  #unlist({ tailnet, nodeId }: { tailnet: string; nodeId: string }): void {
    const state = this.tailnets.get(tailnet);
    if (!state) return;
    const devices = state.devices.filter((device) => device.nodeId !== nodeId);
    this.tailnets.set(tailnet, { ...state, devices });
  }

  #changeTailnet(action: Extract<Action, { tailnet: string }>): void {
    const { tailnet } = action;
    const state = this.tailnets.get(tailnet);
    if (action.do === "closeTailnet") this.tailnets.delete(tailnet);
    if (action.do === "openTailnet") {
      const { fingerprint, clientID } = action.connection;
      const check = { at: this.now, scopes: ["devices:core"], missing: [] };
      const base = { devices: [], soughtIds: new Set<string>() };
      const known = state?.fingerprint === fingerprint ? state : base;
      this.tailnets.set(tailnet, { ...known, fingerprint, clientID, check });
    }
    if (action.do === "listDevices" && state) {
      const at = { fetchedAt: this.now, triedAt: this.now };
      const soughtIds = new Set(action.sought);
      this.tailnets.set(tailnet, { ...state, ...at, devices: this.devices, soughtIds });
    }
  }

  /** Server-side apply, as far as plans use it: what we write beside others' fields. */
  #apply(type: ResourceType, object: KubeObject): void {
    const live = this.get(type, keyOf(object));
    const { name, uid = `uid-of-${name}`, creationTimestamp = timestamp(this.now) } =
      live?.metadata ?? object.metadata;
    const { annotations, finalizers, ...metadata } = object.metadata;
    const isPatch = type === POD ||
      Object.keys(object).length === 3 && metadata.labels === undefined;
    const merged: KubeObject = {
      ...live,
      ...object,
      apiVersion: apiVersionOf(type),
      metadata: {
        ...live?.metadata,
        ...metadata,
        uid,
        creationTimestamp,
        resourceVersion: String(this.#version++),
        annotations: { ...(isPatch ? live?.metadata.annotations : {}), ...annotations },
        ...(isPatch && type !== POD ? { finalizers: finalizers ?? [] } : {}),
      },
    };
    this.put(type === SERVICE ? withAddress(merged) : merged);
    const { deletionTimestamp, finalizers: kept = [] } = merged.metadata;
    if (deletionTimestamp && kept.length === 0) this.remove(type, keyOf(merged));
  }

  #delete(type: ResourceType, key: string): void {
    this.remove(type, key);
    if (type !== STATEFUL_SET) return;
    for (const pod of this.all<Pod>(POD)) {
      if (pod.metadata.name.startsWith(`${key.split("/")[1]}-`)) this.remove(POD, keyOf(pod));
    }
  }

  /** The StatefulSet controller and the kubelet: pods as wanted, all ready. */
  runPods(): this {
    for (const set of this.all<StatefulSet>(STATEFUL_SET)) {
      const { spec, metadata } = set;
      const wanted = Array.from({ length: spec.replicas ?? 1 }, (_, i) => `${metadata.name}-${i}`);
      for (const pod of this.all<Pod>(POD)) {
        const ours = pod.metadata.name.startsWith(`${metadata.name}-`);
        if (ours && !wanted.includes(pod.metadata.name)) this.remove(POD, keyOf(pod));
      }
      for (const name of wanted) if (!this.get(POD, `apps/${name}`)) this.put(podOf(set, name));
      this.put({ ...set, status: { readyReplicas: wanted.length } });
    }
    return this;
  }

  /** Every proxy that has a key logs in; the tailnet does not tell of it by itself. */
  logIn(): this {
    for (const pod of this.all<Pod>(POD)) {
      const { name } = pod.metadata;
      const state = this.get<Secret>(SECRET, `apps/${name}`);
      const config = configOf(this.get<Secret>(SECRET, `apps/${name}-config`));
      if (!state || state.data?.device_id || !config?.AuthKey) continue;
      const taken = this.devices.some(({ nodeId }) => nodeId === `n-${name}`);
      const nodeId = taken ? `n-${name}-anew` : `n-${name}`;
      this.devices = [...this.devices, machine(nodeId, config.Hostname ?? name)];
      this.put({ ...state, data: { ...state.data, device_id: encodeBase64(nodeId) } });
    }
    return this;
  }
}

/** The configuration in a config Secret. */
export function configOf(secret: Secret | undefined): Record<string, string> | undefined {
  const text = decodeBase64(secret?.data?.["cap-106.hujson"] ?? "");
  return text ? JSON.parse(text) : undefined;
}

function machine(nodeId: string, hostname: string): TailnetDevice {
  return {
    nodeId,
    name: `${hostname}.tail1234.ts.net`,
    hostname,
    addresses: ["100.64.0.7", "fd7a:115c:a1e0::7"],
    tags: ["tag:k8s"],
    connectedToControl: true,
    isExternal: false,
  };
}

function withAddress(object: KubeObject): Service {
  const service = object as Service;
  return { ...service, spec: { clusterIP: "10.96.0.9", ...service.spec } };
}

function podOf({ metadata, spec }: StatefulSet, name: string): Pod {
  const { labels = {}, annotations = {} } = spec.template.metadata ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: metadata.namespace ?? "",
      uid: `uid-of-${name}`,
      labels,
      annotations,
    },
    status: { podIP: "10.1.0.5", conditions: [{ type: "Ready", status: "True" }] },
  };
}
