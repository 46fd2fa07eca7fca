/**
 * P16: how long it takes to render anew what hooks answer from, after one object
 * out of 10 000 changed: from the cached objects, and the last step by itself.
 *
 * @module
 */
import { admit } from "../../api/admission.ts";
import { HTTP_ROUTE, REFERENCE_GRANT, SERVICE, STATEFUL_SET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { indexesOf } from "../../controllers/indexes.ts";
import { serviceName, statefulSetName } from "../../controllers/proxies/proxy_set.ts";
import type { World } from "../../controllers/world.ts";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../core/object.ts";
import { buildSnapshot } from "../../extension/snapshot.ts";
import { Store } from "../../kube/store.ts";
import { clustersOf } from "../../operator/renderer.ts";
import type { Outcome } from "./figures.ts";
import { median } from "./stats.ts";

const ENDPOINTS = 10_000, GATEWAYS = 10;
/** Many rounds where they are short; where they are not, that is seen in two. */
const LEAST_ROUNDS = 2, MOST_ROUNDS = 15, ENOUGH_MS = 5_000;

/** The median of some changes, one after the other. */
export function measure(): Promise<Outcome> {
  const cluster = new FilledCluster();
  let previous = buildSnapshot({ clusters: clustersOf(cluster.world) });
  const whole: number[] = [], step: number[] = [];
  const end = performance.now() + ENOUGH_MS;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    if (round > LEAST_ROUNDS && performance.now() > end) break;
    cluster.change(round * 37, round);
    const start = performance.now();
    const clusters = clustersOf(cluster.world);
    const resolved = performance.now();
    const next = buildSnapshot({ clusters }, previous);
    whole.push(performance.now() - start);
    step.push(performance.now() - resolved);
    if (next.version === previous.version) throw new Error("the change is not in the snapshot");
    previous = next;
  }
  const goal = { good: 50, ahead: 5, of: "ours" } as const;
  const change = `after one change of ${ENDPOINTS} TailscaleEndpoints`;
  return Promise.resolve({
    figures: [
      { id: "P16", what: `render ${change}`, unit: "ms", ours: median(whole), goal },
      { id: "P16", what: `of it, buildSnapshot`, unit: "ms", ours: median(step), goal },
    ],
  });
}

/** Stores as the operator's cache has them, full: each TailscaleEndpoints with a route. */
class FilledCluster {
  readonly #stores = new Map<ResourceType, Store<KubeObject>>();
  #version = 1;

  constructor() {
    const types = [HTTP_ROUTE, REFERENCE_GRANT, SERVICE, STATEFUL_SET, TailscaleEndpoints.resource];
    for (const type of types) this.#stores.set(type, new Store({ indexes: indexesOf(type) }));
    for (let index = 0; index < ENDPOINTS; index++) this.#add(index);
  }

  /** What the renderer reads of the world. */
  get world(): World {
    const store = (type: ResourceType) => this.#stores.get(type)!;
    const objects: World["objects"] = {
      get: <T extends KubeObject>(type: ResourceType, key: string) =>
        store(type).get(key) as T | undefined,
      list: <T extends KubeObject>(type: ResourceType, namespace?: string) =>
        store(type).list(namespace) as readonly T[],
      byIndex: <T extends KubeObject>(type: ResourceType, index: string, value: string) =>
        store(type).byIndex(index, value) as readonly T[],
    };
    return {
      objects,
      tailnets: new Map(),
      hooks: { failedAt: new Map(), servedHash: new Map() },
      settings: { namespace: "tailscale", proxyImage: "image" },
      failure: () => undefined,
      knowsTailnet: () => true,
      knowsSecret: () => true,
    };
  }

  /** Gives one of the hosts another port. */
  change(index: number, round: number): void {
    this.#put(TailscaleEndpoints.resource, `app-${index}`, endpointsSpec(index, 9000 + round));
  }

  #add(index: number): void {
    const name = `app-${index}`;
    const set = statefulSetName(name, "egress");
    this.#put(TailscaleEndpoints.resource, name, endpointsSpec(index, 8080));
    this.#put(STATEFUL_SET, set, { spec: {}, status: { readyReplicas: 1 } });
    const clusterIP = `10.96.${index >> 8}.${index & 255}`;
    this.#put(SERVICE, serviceName(set), { spec: { clusterIP } });
    const ref = { group: "gateway.tailscale.com", kind: TailscaleEndpoints.kind, name };
    this.#put(HTTP_ROUTE, name, {
      spec: {
        parentRefs: [{ name: `gateway-${index % GATEWAYS}` }],
        rules: [{ backendRefs: [{ ...ref, weight: 1 }] }],
      },
    });
  }

  /** As the API server would give it back. */
  #put(type: ResourceType, name: string, content: object): void {
    const metadata = { name, namespace: "apps", resourceVersion: String(this.#version++) };
    const object = { apiVersion: apiVersionOf(type), kind: type.kind, metadata, ...content };
    const admitted = admit(object);
    if ("errors" in admitted) throw new Error(admitted.errors.join("; "));
    this.#stores.get(type)!.upsert(admitted.object);
  }
}

function endpointsSpec(index: number, port: number) {
  const tailscaleIP = `100.64.${index >> 8}.${index & 255}`;
  return {
    spec: {
      tailnet: "corp",
      proxy: { connectionType: "egress" },
      endpoints: [{ name: "host", tailscaleIP, port }],
    },
  };
}
