/**
 * The operator: joins the caches, the tailnets, the controllers and the
 * extension server.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { TailscaleTailnet } from "../api/tailscale_tailnet.ts";
import { fieldManagerOf } from "../controllers/controller.ts";
import { CONTROLLERS, TYPES_READ } from "../controllers/registry.ts";
import { tailnetController } from "../controllers/tailnet/controller.ts";
import { credentialKey } from "../controllers/tailnet/observe.ts";
import type { Settings, World } from "../controllers/world.ts";
import { HOOKS } from "../extension/registry.ts";
import { ExtensionServer } from "../extension/server.ts";
import type { Snapshot } from "../extension/snapshot.ts";
import type { KubeClient } from "../kube/client.ts";
import { EventRecorder } from "../kube/events.ts";
import { degradation, type HealthReport } from "../telemetry/health.ts";
import { type HttpServer, serveHttp } from "../telemetry/http.ts";
import type { Log } from "../telemetry/log.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { ActionRunner } from "./actions.ts";
import { ClusterCache } from "./cache.ts";
import { Engine } from "./engine.ts";
import { HookRecorder } from "./hook_facts.ts";
import { Renderer } from "./renderer.ts";
import { Tailnets } from "./tailnets.ts";

/** Options of {@linkcode Operator}. */
export interface OperatorOptions {
  readonly client: KubeClient;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** `host:port` of the gRPC server that Envoy Gateway calls. */
  readonly grpcAddress: string;
  /** `host:port` of metrics and health. */
  readonly httpAddress: string;
  readonly maxMessageBytes?: number;
  /** Identity in Events. */
  readonly instance: string;
  /** How Tailscale's API is called; default: Deno's fetch. */
  readonly fetch?: typeof fetch;
  readonly random?: () => number;
}

/** However long a tailnet's API is silent at the start, hooks are served after this. */
const SETTLE_MS = 15_000;
/** How long running calls and requests may take at the end. */
const GRACE_MS = 10_000;

/** Runs everything in one process. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly metrics: Metrics;
  readonly cache: ClusterCache;
  readonly tailnets: Tailnets;
  readonly #engines: ReadonlyMap<string, Engine>;
  readonly #renderer: Renderer;
  readonly #hooks: HookRecorder;
  readonly #events: EventRecorder;
  readonly #extension: ExtensionServer;
  #serving = false;
  #settled = Promise.withResolvers<void>();

  constructor(options: OperatorOptions) {
    const { client, clock, log } = options;
    this.#options = options;
    this.metrics = new Metrics({
      clock,
      controllers: CONTROLLERS.map(({ name }) => name),
      hooks: HOOKS.map(({ method }) => method),
      resources: TYPES_READ.map(({ plural }) => plural),
    });
    const { metrics } = this;
    this.cache = new ClusterCache({
      ...options,
      metrics,
      types: TYPES_READ,
      onSecretKnown: (key) => this.#secretKnown(key),
    });
    this.tailnets = new Tailnets({
      ...options,
      metrics,
      userAgent: `tailscale-gateway/${options.version}`,
    });
    this.#events = new EventRecorder({
      client,
      clock,
      component: "tailscale-gateway",
      instance: options.instance,
      log: log.named("events"),
    });
    const world = () => this.world;
    this.#renderer = new Renderer({ world, clock, metrics, onChange: () => this.#hooksChanged() });
    this.#hooks = new HookRecorder({ clock, onChange: () => this.#hooksChanged() });
    this.#engines = new Map(CONTROLLERS.map((controller) => [
      controller.name,
      new Engine({
        onRun: (key, first) => this.#ran(controller.name, { key, first }),
        ...options,
        controller,
        world,
        metrics,
        cache: this.cache,
        events: this.#events,
        runner: new ActionRunner(
          { client, cache: this.cache, tailnets: this.tailnets, events: this.#events, clock, log },
          fieldManagerOf(controller),
        ),
      }),
    ]));
    this.#extension = new ExtensionServer({
      snapshot: () => this.#renderer.current(),
      clock,
      log: log.named("extension"),
      onCall: (call) => {
        metrics.hookCalled(call);
        this.#hooks.record(call, this.#renderer.current().gateways);
      },
      ...(options.maxMessageBytes ? { maxMessageBytes: options.maxMessageBytes } : {}),
    });
    this.#connect();
  }

  /** What controllers see now. */
  get world(): World {
    const { rendered } = this.#renderer;
    return {
      objects: this.cache,
      tailnets: this.tailnets.states,
      hooks: this.#hooks.facts,
      settings: this.#options.settings,
      failure: (controller, key) => this.#engines.get(controller)?.failure(key),
      knowsTailnet: (name) => this.#knowsTailnet(name),
      knowsSecret: (key) => this.cache.secrets.knows(key),
      ...(rendered ? { rendered } : {}),
    };
  }

  /** What hooks would answer from now. */
  get snapshot(): Snapshot {
    return this.#renderer.current();
  }

  /** Whether it serves, and how well. */
  health(): HealthReport {
    const unsynced = this.cache.unsynced();
    return {
      notReady: [
        ...(unsynced.length > 0 ? [`reading ${unsynced.join(", ")} from the API server`] : []),
        ...(this.#serving ? [] : ["the extension server is not serving yet"]),
      ],
      degraded: degradation(
        { hooks: this.metrics.recentHookCalls(), caches: {} },
        this.#options.clock.now(),
      ),
    };
  }

  /**
   * Runs until the signal aborts, then ends cleanly: running hook calls and
   * reconciles finish first.
   *
   * @throws {ListenError} when an address can't be listened on.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, httpAddress } = this.#options;
    const http = serveHttp({
      address: httpAddress,
      health: () => this.health(),
      metrics: this.metrics,
      log: log.named("http"),
      clock,
    });
    log.info("serving metrics and health", { url: http.url });
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await this.#runAll(stop);
    } finally {
      signal.removeEventListener("abort", onAbort);
      await this.#end(http);
    }
  }

  async #runAll(stop: AbortController): Promise<void> {
    const running = [this.cache.run(stop.signal)];
    try {
      await untilAborted(this.cache.synced(), stop.signal);
      running.push(...[...this.#engines.values()].map((engine) => engine.run(stop.signal)));
      await untilAborted(this.#settle(), stop.signal);
      if (!stop.signal.aborted) await this.#serve();
      await untilAborted(new Promise<never>(() => {}), stop.signal);
    } finally {
      stop.abort();
      await Promise.all(running);
    }
  }

  async #serve(): Promise<void> {
    this.#renderer.start();
    await this.#extension.start(this.#options.grpcAddress);
    this.#serving = true;
    this.#options.log.info("ready");
  }

  async #end(http: HttpServer): Promise<void> {
    this.#serving = false;
    this.#renderer.stop();
    await this.#extension.stop(GRACE_MS);
    await this.#events.flush();
    await http.shutdown();
  }

  /**
   * Waits until every tailnet was tried: what hooks render before would lack the
   * hosts that are known by name, and break what Envoy has.
   */
  async #settle(): Promise<void> {
    const cancel = this.#options.clock.setTimer(() => this.#settled.resolve(), SETTLE_MS);
    this.#checkSettled();
    await this.#settled.promise;
    cancel();
  }

  #checkSettled(): void {
    const tailnets = this.cache.list<TailscaleTailnet>(TailscaleTailnet.resource);
    if (tailnets.every(({ metadata: { name } }) => this.#knowsTailnet(name))) {
      this.#settled.resolve();
    }
  }

  #knowsTailnet(name: string): boolean {
    const state = this.tailnets.states.get(name);
    // Without a usable Secret it is never opened, and a refused one is never listed.
    if (!state) return this.#engines.get(tailnetController.name)?.hasRun(name) ?? false;
    return state.triedAt !== undefined || (state.check !== undefined && "failure" in state.check);
  }

  #ran(controller: string, { key, first }: { key: string; first: boolean }): void {
    if (controller !== tailnetController.name || !first) return;
    this.#tailnetChanged(key);
  }

  #tailnetChanged(tailnet: string): void {
    this.#renderer.changed();
    for (const engine of this.#engines.values()) engine.tailnetChanged(tailnet);
    this.#checkSettled();
  }

  #connect(): void {
    this.cache.onChange((type, change) => {
      if (type === TailscaleTailnet.resource) this.#followCredentials();
      this.#renderer.changed(type);
      for (const engine of this.#engines.values()) engine.changed(type, change);
      if (type === TailscaleTailnet.resource) this.#checkSettled();
    });
    this.tailnets.onChange((tailnet) => this.#tailnetChanged(tailnet));
  }

  #secretKnown(key: string): void {
    const { namespace } = this.#options.settings;
    for (const tailnet of this.cache.list<TailscaleTailnet>(TailscaleTailnet.resource)) {
      if (credentialKey(tailnet, namespace) !== key) continue;
      this.#engines.get(tailnetController.name)?.add(tailnet.metadata.name);
    }
  }

  #followCredentials(): void {
    const { namespace } = this.#options.settings;
    const tailnets = this.cache.list<TailscaleTailnet>(TailscaleTailnet.resource);
    this.cache.secrets.follow(
      new Set(tailnets.map((tailnet) => credentialKey(tailnet, namespace))),
    );
  }

  #hooksChanged(): void {
    for (const engine of this.#engines.values()) engine.hooksChanged();
  }
}

/** Waits for the promise, or for the signal. */
async function untilAborted(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const onAbort = () => aborted.resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  await Promise.race([promise, aborted.promise]);
  signal.removeEventListener("abort", onAbort);
}
