/**
 * The rest of a cluster, simulated: what the StatefulSet controller, a kubelet
 * and containerboot would do for the operator's proxies.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import { keyOf, type KubeObject, splitKey } from "../../core/object.ts";
import { POD, SECRET, STATEFUL_SET } from "../../api/resources.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isConflict, isNotFound } from "../../kube/errors.ts";
import { Reflector } from "../../kube/reflector.ts";
import { Store } from "../../kube/store.ts";
import { WorkQueue } from "../../kube/workqueue.ts";
import type { MemoryTailnet } from "../tailnet/memory.ts";
import { loginPatch, readConfig, type SecretData, textOf } from "./containerboot.ts";

/** Options of {@linkcode WorkloadSimulator}. */
export interface WorkloadSimulatorOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** The tailnet that proxies log in to. */
  readonly tailnet: MemoryTailnet;
  /** How long a proxy takes to log in. @default 300 */
  readonly loginMs?: number;
  /** Told when something is not as the simulation expects. */
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
}

interface StatefulSet extends KubeObject {
  spec: {
    replicas?: number;
    template: { metadata?: { labels?: Record<string, string> }; spec: Record<string, unknown> };
  };
}

interface Pod extends KubeObject {
  status?: { conditions?: { type: string; status: string }[] };
}

/** Runs the pods of StatefulSets as nodes of a simulated tailnet. */
export class WorkloadSimulator {
  readonly #options: WorkloadSimulatorOptions;
  readonly #queue: WorkQueue;
  readonly #sets = new Store<StatefulSet>();
  readonly #pods = new Store<Pod>();
  readonly #secrets = new Store<SecretData>();
  /** When each pod, by uid, is through with its login. */
  readonly #loginAt = new Map<string, number>();
  readonly #nodeOfPod = new Map<string, string>();
  #nextAddress = 1;

  constructor(options: WorkloadSimulatorOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock });
  }

  /** Works until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const follow = <T extends KubeObject>(
      type: typeof POD,
      store: Store<T>,
      keyOfSet: (object: T) => string | undefined,
    ) =>
      new Reflector<T>({
        client,
        type,
        store,
        clock,
        onChange: ({ object }) => {
          const key = keyOfSet(object);
          if (key) this.#queue.add(key);
        },
      }).run(signal);
    await Promise.all([
      follow(STATEFUL_SET, this.#sets, keyOf),
      follow(POD, this.#pods, ownerKey),
      follow(SECRET, this.#secrets, instanceKey),
      this.#work(signal),
    ]);
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const key = await this.#queue.next(signal).catch(() => undefined);
      if (key === undefined) return;
      try {
        await this.#sync(key);
        this.#queue.forget(key);
        this.#queue.done(key);
      } catch (error) {
        this.#queue.done(key);
        if (!isConflict(error) && !isNotFound(error)) {
          this.#options.log.warn("simulated workload failed", { key, error });
        }
        this.#queue.retry(key);
      }
    }
  }

  /** Brings the pods of one StatefulSet a step further. */
  async #sync(key: string): Promise<void> {
    const set = this.#sets.get(key);
    const { namespace } = splitKey(key);
    const pods = this.#pods.list(namespace).filter((pod) => ownerKey(pod) === key);
    this.#disconnectGone();
    if (!set || set.metadata.deletionTimestamp) return;
    const wanted = Array.from({ length: set.spec.replicas ?? 1 }, (_, i) => podName(set, i));
    for (const pod of pods) {
      if (!wanted.includes(pod.metadata.name)) await this.#deletePod(pod);
    }
    for (const name of wanted) {
      const pod = pods.find(({ metadata }) => metadata.name === name);
      if (pod) await this.#login(key, pod);
      else await this.#createPod(set, name);
    }
    await this.#report(set);
  }

  async #createPod(set: StatefulSet, name: string): Promise<void> {
    const { template } = set.spec;
    const { namespace, uid = "" } = set.metadata;
    const pod: Pod & { spec: unknown } = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        ...(namespace ? { namespace } : {}),
        labels: { ...template.metadata?.labels },
        ownerReferences: [{
          apiVersion: "apps/v1",
          kind: "StatefulSet",
          name: set.metadata.name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        }],
      },
      spec: template.spec,
    };
    await this.#options.client.create(POD, pod);
  }

  async #deletePod({ metadata }: Pod): Promise<void> {
    await this.#options.client.delete(POD, metadata.name, {
      namespace: metadata.namespace,
      uid: metadata.uid,
    });
  }

  /** containerboot: waits a while, logs in where it never did, and says that it is ready. */
  async #login(key: string, pod: Pod): Promise<void> {
    const { clock, tailnet, client, loginMs = 300 } = this.#options;
    const { name, namespace, uid = "" } = pod.metadata;
    if (isReady(pod)) return;
    const at = this.#loginAt.get(uid) ?? clock.now() + loginMs;
    this.#loginAt.set(uid, at);
    if (at > clock.now()) return this.#queue.add(key, { afterMs: at - clock.now() });
    const state = this.#secrets.get(`${namespace}/${name}`);
    const config = readConfig(this.#secrets.get(`${namespace}/${name}-config`));
    if (!state || !config) return; // a change of either Secret comes back here
    let nodeId = textOf(state, "device_id");
    if (!nodeId || !tailnet.connect(nodeId)) {
      if (!config.AuthKey) return;
      const node = tailnet.register({ authKey: config.AuthKey, hostname: config.Hostname });
      nodeId = node.nodeId;
      await client.patch(SECRET, name, namespace, loginPatch(node, uid), {
        contentType: "application/merge-patch+json",
      });
    }
    this.#nodeOfPod.set(uid, nodeId);
    const ip = `10.244.0.${this.#nextAddress++ % 250 + 1}`;
    await client.patch(POD, name, namespace, readyPatch(ip), {
      contentType: "application/merge-patch+json",
      subresource: "status",
    });
  }

  /** A pod that is gone is offline in the tailnet. */
  #disconnectGone(): void {
    const live = new Set(this.#pods.list().map(({ metadata }) => metadata.uid));
    for (const [uid, nodeId] of this.#nodeOfPod) {
      if (live.has(uid)) continue;
      this.#options.tailnet.disconnect(nodeId);
      this.#nodeOfPod.delete(uid);
      this.#loginAt.delete(uid);
    }
  }

  async #report(set: StatefulSet): Promise<void> {
    const { name, namespace, generation } = set.metadata;
    const pods = this.#pods.list(namespace).filter((pod) => ownerKey(pod) === keyOf(set));
    const status = {
      observedGeneration: generation,
      replicas: pods.length,
      readyReplicas: pods.filter(isReady).length,
    };
    await this.#options.client.patch(STATEFUL_SET, name, namespace, { status }, {
      contentType: "application/merge-patch+json",
      subresource: "status",
    });
  }
}

function podName(set: StatefulSet, index: number): string {
  return `${set.metadata.name}-${index}`;
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some((c) => c.type === "Ready" && c.status === "True") ?? false;
}

function ownerKey({ metadata }: KubeObject): string | undefined {
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === "StatefulSet");
  return owner && `${metadata.namespace}/${owner.name}`;
}

function instanceKey({ metadata }: KubeObject): string | undefined {
  const instance = metadata.labels?.["app.kubernetes.io/instance"];
  return instance && `${metadata.namespace}/${instance}`;
}

function readyPatch(podIP: string): unknown {
  return {
    status: { phase: "Running", podIP, conditions: [{ type: "Ready", status: "True" }] },
  };
}
