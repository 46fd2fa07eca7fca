/**
 * A simulated cluster and tailnet that the operator in another process works on.
 *
 * @module
 */
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { SimulatedCluster } from "../../cmd/standalone/cluster.ts";
import type { Manifest } from "../../cmd/standalone/manifests.ts";
import { keyOf, type KubeObject } from "../../core/object.ts";
import { Reflector } from "../../kube/reflector.ts";
import { Store } from "../../kube/store.ts";
import { silentLog } from "../../telemetry/log.ts";
import { Child, denoCommand } from "./child.ts";
import type { OperatorProcessOptions } from "./operator_process.ts";

/** Milliseconds since the epoch, with what comes after the point. */
export const preciseClock = {
  now: () => performance.timeOrigin + performance.now(),
  setTimer(fn: () => void, ms: number) {
    const id = setTimeout(fn, ms);
    return () => clearTimeout(id);
  },
};

const NAMESPACES = 20;

const TAILNET: readonly KubeObject[] = [
  {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "oauth", namespace: "tailscale" },
    stringData: { client_id: "client", client_secret: "secret" },
  } as KubeObject,
  {
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: "TailscaleTailnet",
    metadata: { name: "corp" },
    spec: { oauthSecretName: "oauth", oauthSecretNamespace: "tailscale", tags: ["tag:k8s"] },
  } as KubeObject,
];

/** A TailscaleEndpoints of one egress proxy and one host. */
export function endpointsObject(index: number): KubeObject {
  return {
    apiVersion: "gateway.tailscale.com/v1alpha1",
    kind: TailscaleEndpoints.kind,
    metadata: { name: `app-${index}`, namespace: `team-${index % NAMESPACES}` },
    spec: {
      tailnet: "corp",
      proxy: { connectionType: "egress", replicas: 1 },
      endpoints: [{ name: "host", tailscaleIP: "100.64.0.10", port: 8080 }],
    },
  } as KubeObject;
}

/** Serves a simulated cluster with a tailnet in it; knows which objects are Ready. */
export class BenchCluster implements AsyncDisposable {
  readonly simulated: SimulatedCluster;
  readonly #stop = new AbortController();
  readonly #servers: { shutdown(): Promise<void> }[] = [];
  readonly #running: Promise<unknown>[] = [];
  readonly #ready = new Set<string>();
  #onReady = () => {};
  readonly urls: { readonly server: string; readonly tailscale: string };

  private constructor(simulated: SimulatedCluster) {
    this.simulated = simulated;
    const api = simulated.api.serve();
    const tailscale = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      // A request of its own: the server's one carries a signal that means something else.
      async ({ url, method, headers, body }) =>
        await simulated.fetch(url, { method, headers, ...(body ? { body } : {}) }),
    );
    this.#servers.push(api, tailscale);
    this.urls = { server: api.url, tailscale: `http://127.0.0.1:${tailscale.addr.port}` };
    this.#running.push(simulated.run(this.#stop.signal), this.#follow());
  }

  /** With the tailnet and the namespaces of {@linkcode endpointsObject}. */
  static async start(): Promise<BenchCluster> {
    const names = Array.from({ length: NAMESPACES }, (_, i) => `team-${i}`);
    const namespaces = names.map((name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name },
    }));
    const manifests: Manifest[] = [...namespaces, ...TAILNET].map((object) => ({
      file: "bench",
      object,
    }));
    const simulated = new SimulatedCluster({ clock: preciseClock, log: silentLog });
    await simulated.apply(manifests);
    return new BenchCluster(simulated);
  }

  /** Starts the operator; resolves when it serves. */
  async startOperator(latencyMs: number): Promise<Child> {
    const options: OperatorProcessOptions = { ...this.urls, latencyMs };
    const command = denoCommand("operator_process.ts", { args: [JSON.stringify(options)] });
    const operator = new Child(command);
    await operator.line();
    return operator;
  }

  /** Creates objects, all of them at once. */
  async create(objects: readonly KubeObject[]): Promise<void> {
    const { client } = this.simulated;
    await Promise.all(objects.map((object) => client.create(TailscaleEndpoints.resource, object)));
  }

  /** Resolves when so many objects are Ready. */
  async ready(count: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new Error(`only ${this.#ready.size} of ${count} objects became Ready`)),
      300_000,
    );
    this.#onReady = () => this.#ready.size >= count && resolve();
    this.#onReady();
    await promise;
    clearTimeout(timer);
  }

  async #follow(): Promise<void> {
    await new Reflector<KubeObject & { status?: { conditions?: unknown[] } }>({
      client: this.simulated.client,
      type: TailscaleEndpoints.resource,
      store: new Store(),
      clock: preciseClock,
      onChange: ({ object }) => {
        const conditions = (object.status?.conditions ?? []) as { type: string; status: string }[];
        const isReady = conditions.some((c) => c.type === "Ready" && c.status === "True");
        if (isReady) this.#ready.add(keyOf(object));
        else this.#ready.delete(keyOf(object));
        this.#onReady();
      },
    }).run(this.#stop.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#servers.map((server) => server.shutdown()));
    await Promise.all(this.#running);
  }
}
