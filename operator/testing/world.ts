/**
 * The whole operator on a cluster and a tailnet in memory, for tests.
 *
 * @module
 */
import { setTimeout as pause } from "node:timers/promises";
import { assert } from "@std/assert";
import { type Condition, keyOf, type KubeObject, type ResourceType } from "../../core/object.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import { EmbeddedApiServer, type FaultResponse } from "../../embedded/apiserver/mod.ts";
import {
  MemoryTailnet,
  TailscaleApiServer,
  type TailscaleApiServerOptions,
} from "../../embedded/tailnet/mod.ts";
import { WorkloadSimulator } from "../../embedded/workloads/simulator.ts";
import { KubeClient } from "../../kube/client.ts";
import { handlerTransport } from "../../kube/transport.ts";
import { createLog } from "../../telemetry/log.ts";
import { Operator } from "../operator.ts";
import type { OperatorOptions } from "../options.ts";
import { admitted, errorsOf, typeOf } from "./admission.ts";
import { SkippingClock } from "./clock.ts";
import { acceptRevision, TestEnvoyGateway } from "./envoy.ts";
import { identityIn, trusting } from "./federation.ts";
import { OAUTH_CLIENT } from "./objects.ts";

/** How long a test waits for a state, which comes within some milliseconds where all is well. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 5;
/** Nothing was asked or said for so long: nothing is going on. */
const QUIET_MS = 30;

/** A request that the operator sent to the API server. */
export interface Sent {
  readonly method: string;
  readonly path: string;
}

/** A running {@linkcode Operator} with the means to end it. */
interface Run {
  readonly operator: Operator;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** A cluster, a tailnet, and an operator that can be started and stopped. */
export class TestWorld {
  readonly clock = new SkippingClock();
  readonly api = new EmbeddedApiServer({
    clock: this.clock,
    validate: errorsOf,
    defaults: admitted,
  });
  /** People's client: not counted, and met by no fault. */
  readonly client = new KubeClient(handlerTransport((request) => this.api.handle(request)));
  readonly tailnet = new MemoryTailnet({ clock: this.clock });
  readonly tailscale: TailscaleApiServer;
  /** What the operator asked the API server for, the oldest first. */
  readonly sent: Sent[] = [];
  /** Every line that the operator logged, at debug level. */
  readonly logs: string[] = [];
  /** What Tailscale's API does instead of answering. */
  tailscaleFault: (() => Promise<Response>) | undefined;
  /** Told of the operator's requests to both, as `METHOD path`. */
  onRequest: ((request: string) => void) | undefined;
  #run: Run | undefined;
  #gateway: TestEnvoyGateway | undefined;

  constructor(options: Partial<TailscaleApiServerOptions> = {}) {
    this.tailscale = new TailscaleApiServer({
      backend: this.tailnet,
      clock: this.clock,
      clients: [OAUTH_CLIENT],
      federated: [trusting(this.api)],
      ...options,
    });
  }

  /** The operator that runs. */
  get operator(): Operator {
    assert(this.#run, "no operator runs");
    return this.#run.operator;
  }

  /** Starts an operator. */
  start(): Operator {
    assert(!this.#run, "an operator runs already");
    const operator = this.create();
    const stop = new AbortController();
    this.#run = { operator, stop, ended: operator.run(stop.signal) };
    return operator;
  }

  /** An operator of this world, which the caller runs. */
  create(options: Partial<OperatorOptions> = {}): Operator {
    const transport = handlerTransport((request) => this.#handle(request), { clock: this.clock });
    const client = new KubeClient(transport, { clock: this.clock });
    return new Operator({
      client,
      identityToken: identityIn(client),
      clock: this.clock,
      log: createLog({ level: "debug", write: (line) => void this.logs.push(line) }),
      version: "test",
      instance: "test",
      settings: { namespace: "tailscale", proxyImage: "tailscale:test" },
      grpcAddress: "127.0.0.1:0",
      httpAddress: "127.0.0.1:0",
      fetch: (input, init) => this.#fetch(input, init),
      ...options,
    });
  }

  /** Ends the operator, as SIGTERM does. */
  async stop(): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    this.#gateway?.close();
    this.#gateway = undefined;
    run?.stop.abort();
    await run?.ended;
  }

  /** Plays the StatefulSet controller, the kubelet and the proxies until the signal aborts. */
  simulate(signal: AbortSignal): Promise<void> {
    const { client, clock, tailnet } = this;
    const log = { warn: (message: string) => void this.logs.push(`simulator: ${message}`) };
    return new WorkloadSimulator({ client, clock, tailnet, log, loginMs: 5 }).run(signal);
  }

  /** Makes requests of the operator to the API server fail. */
  fail(fault: {
    method?: string;
    path?: RegExp;
    times?: number;
    response: FaultResponse | "reset" | "hang";
  }): void {
    const { method, path, times = 1, response } = fault;
    this.api.failNext({
      times,
      response,
      match: (request) =>
        request.headers.has(BY_OPERATOR) && (!method || request.method === method) &&
        (!path || path.test(new URL(request.url).pathname)),
    });
  }

  /** Applies objects, as `kubectl apply` does. */
  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      await this.client.apply(typeOf(object), object, { fieldManager: "kubectl", force: true });
    }
  }

  /** Deletes an object, as `kubectl delete --wait=false` does. */
  async delete({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): Promise<void> {
    const type = typeOf({ apiVersion, kind });
    await this.client.delete(type, name, { namespace, propagation: "Background" });
  }

  /** The object as the API server has it. */
  find<T extends KubeObject>(type: ResourceType, key: string): T | undefined {
    return this.api.objects(type).find((object) => keyOf(object) === key) as T | undefined;
  }

  /** A condition of a TailscaleEndpoints (`namespace/name`) or TailscaleTailnet (`name`). */
  condition(key: string, type = "Ready"): Condition | undefined {
    const kind = key.includes("/") ? TailscaleEndpoints.resource : TailscaleTailnet.resource;
    const found = this.find<KubeObject & { status?: { conditions?: Condition[] } }>(kind, key);
    return found?.status?.conditions?.find((condition) => condition.type === type);
  }

  /** Waits until a condition is `True`, or has that reason, and gives it. */
  async untilCondition(key: string, wanted: string, type = "Ready"): Promise<Condition> {
    const met = () => {
      const condition = this.condition(key, type);
      return condition?.reason === wanted || condition?.status === wanted ? condition : undefined;
    };
    return await this.until(`${type} of ${key} is ${wanted}`, met);
  }

  /** Waits until something is there. */
  async until<T>(what: string, look: () => T | Promise<T>): Promise<NonNullable<T>> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found) return found;
      if (Date.now() > giveUpAt) throw new Error(`never: ${what}\n${this.#report()}`);
      await pause(LOOK_MS);
    }
  }

  /** Waits until nothing is going on any more. */
  async quiet(): Promise<void> {
    const activity = () => this.api.requests.length + this.tailscale.requests.length;
    let before = -1;
    await this.until("quiet", async () => {
      before = activity();
      await pause(QUIET_MS);
      return activity() === before;
    });
  }

  /** Moves time on in steps, and waits after each until all is done. */
  async pass(ms: number, stepMs = 30_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.skip(Math.min(left, stepMs));
      await this.quiet();
    }
  }

  /** The operator's writes to the API server since the last call. */
  takeWrites(): string[] {
    const writes = this.sent.filter(({ method }) => method !== "GET");
    this.sent.length = 0;
    return writes.map(({ method, path }) => `${method} ${path.split("?")[0]}`);
  }

  /** How often a path of Tailscale's API was asked for. */
  tailscaleCalls(method: string, path: RegExp): number {
    return this.tailscale.requests.filter((request) =>
      request.method === method && path.test(request.path)
    ).length;
  }

  /** The revision of a Gateway. */
  revision(gateway = "apps/edge"): TailscaleGatewayRevision | undefined {
    return this.find<TailscaleGatewayRevision>(TailscaleGatewayRevision.resource, gateway);
  }

  /** Envoy Gateway translates: gives the upstreams of those of the named clusters. */
  async translate(
    clusters: readonly string[],
    gateway?: string,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const revision = gateway ? this.revision(gateway) : undefined;
    const answer = await (await this.#envoyGateway()).translate(clusters, revision);
    if (revision) await acceptRevision(this.client, revision);
    return answer;
  }

  /** Calls a hook with any bytes; false when it refuses them. */
  async callWith(bytes: Uint8Array): Promise<boolean> {
    const call = (await this.#envoyGateway()).call(bytes);
    return await call.then(() => true, () => false);
  }

  /** Asks the operator's HTTP port. */
  async http(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(`http://127.0.0.1:${this.operator.listening?.httpPort}${path}`);
    return { status: response.status, text: await response.text() };
  }

  async #envoyGateway(): Promise<TestEnvoyGateway> {
    const port = await this.until("hooks are served", () => this.operator.listening?.grpcPort);
    return this.#gateway ??= new TestEnvoyGateway(port);
  }

  #handle(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    this.sent.push({ method: request.method, path: pathname + search });
    this.onRequest?.(`${request.method} ${pathname}`);
    request.headers.set(BY_OPERATOR, "1");
    return this.api.handle(request);
  }

  #fetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    this.onRequest?.(`${init?.method ?? "GET"} ${input}`);
    return this.tailscaleFault?.() ?? this.tailscale.fetch(input, init);
  }

  #report(): string {
    const kinds = [TailscaleTailnet.resource, TailscaleEndpoints.resource];
    const objects = kinds.flatMap((type) => this.api.objects(type));
    return `${JSON.stringify(objects, null, 1)}\n${this.logs.slice(-40).join("\n")}`;
  }
}

const BY_OPERATOR = "x-by-operator";

/** Runs a test in a world whose workloads are simulated, and ends all of it. */
export async function withWorld(
  options: Partial<TailscaleApiServerOptions>,
  test: (world: TestWorld) => Promise<void>,
): Promise<void> {
  const world = new TestWorld(options);
  const stop = new AbortController();
  const simulated = world.simulate(stop.signal);
  try {
    await test(world);
  } finally {
    world.api.clearFaults();
    await world.stop();
    stop.abort();
    await simulated;
  }
}
