/**
 * The operator: joins the caches, the tailnets, the controllers and the
 * extension server.
 *
 * @module
 */
import { sleep } from "../core/clock.ts";
import { keyOf, type KubeObject } from "../core/object.ts";
import { TailscaleGatewayRevision } from "../api/tailscale_gateway_revision.ts";
import { TailscaleTailnet } from "../api/tailscale_tailnet.ts";
import { fieldManagerOf } from "../controllers/controller.ts";
import { CONTROLLERS, TYPES_READ } from "../controllers/registry.ts";
import { tailnetController } from "../controllers/tailnet/controller.ts";
import { credentialKey } from "../controllers/tailnet/observe.ts";
import type { World } from "../controllers/world.ts";
import { HOOKS } from "../extension/registry.ts";
import { ExtensionServer } from "../extension/server.ts";
import type { Snapshot } from "../extension/snapshot.ts";
import { EventRecorder } from "../kube/events.ts";
import type { Change } from "../kube/store.ts";
import { degradation, type HealthReport } from "../telemetry/health.ts";
import { serveHttp } from "../telemetry/http.ts";
import { Metrics } from "../telemetry/metrics.ts";
import { ActionRunner } from "./actions.ts";
import { AuthKeys } from "./auth_keys.ts";
import { ClusterCache } from "./cache.ts";
import { Engine } from "./engine.ts";
import { countHookCall } from "./hook_calls.ts";
import { HookRecorder } from "./hook_facts.ts";
import { KnownTailnets } from "./known_tailnets.ts";
import { Leadership } from "./leadership.ts";
import { runToTheEnd } from "./lifecycle.ts";
import type { Listening, OperatorOptions } from "./options.ts";
import { Renderer } from "./renderer.ts";
import { RevisionGate } from "./revision_gate.ts";
import { Tailnets } from "./tailnets.ts";
import { Terms } from "./terms.ts";
import { within } from "./waiting.ts";

/** However long a tailnet's API is silent at the start, hooks are served after this. */
const SETTLE_MS = 15_000;
/** A Service sends to a pod for about so long after it began to end. */
const DRAIN_MS = 2_000;

/** Runs everything in one process. */
export class Operator {
  readonly #options: OperatorOptions;
  readonly metrics: Metrics;
  readonly cache: ClusterCache;
  readonly tailnets: Tailnets;
  readonly #renderer: Renderer;
  readonly #hooks: HookRecorder;
  readonly #events: EventRecorder;
  readonly #engines: ReadonlyMap<string, Engine>;
  readonly #terms: Terms;
  readonly #extension: ExtensionServer;
  /** Ends the calls of Tailscale's API that do not end by themselves. */
  readonly #cut = new AbortController();
  readonly #leadership: Leadership;
  readonly #gate: RevisionGate;
  readonly #known: KnownTailnets;
  #listening: Listening | undefined;

  constructor(options: OperatorOptions) {
    const { clock, log } = options;
    this.#options = options;
    this.metrics = new Metrics({
      clock,
      controllers: CONTROLLERS.map(({ name }) => name),
      hooks: HOOKS.map(({ method }) => method),
      resources: TYPES_READ.map(({ plural }) => plural),
    });
    const { metrics } = this;
    this.#leadership = new Leadership(options);
    const { client, fence, shared } = this.#leadership;
    metrics.leadership("tailscale-gateway", () => this.#leadership.leads);
    const onSecretKnown = (key: string) => this.#secretKnown(key);
    this.cache = new ClusterCache({ ...options, metrics, types: TYPES_READ, onSecretKnown });
    const userAgent = `tailscale-gateway/${options.version}`;
    const { signal } = this.#cut;
    this.tailnets = new Tailnets({ ...options, metrics, userAgent, signal, fence });
    this.#events = new EventRecorder({
      ...options,
      client,
      component: "tailscale-gateway",
      log: log.named("events"),
    });
    this.#gate = new RevisionGate({ clock, leads: () => this.#leadership.leads });
    this.#known = new KnownTailnets({
      names: () => this.#tailnetObjects().map(({ metadata: { name } }) => name),
      state: (name) => this.tailnets.states.get(name),
      hasRun: (name) => this.#engines.get(tailnetController.name)?.hasRun(name) ?? false,
    });
    const onChange = () => this.#hooksChanged();
    this.#renderer = new Renderer({ ...options, world: () => this.world, metrics, onChange });
    this.#hooks = new HookRecorder({ clock, onChange, shared });
    const { cache, tailnets } = this;
    const keys = new AuthKeys({ ...options, client, cache, tailnets });
    this.#engines = this.#createEngines(keys);
    this.#terms = this.#createTerms(keys);
    this.#extension = this.#createExtension();
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
      knowsTailnet: (name) => this.#known.knows(name),
      knowsSecret: (key) => this.cache.secrets.knows(key),
      ...(rendered ? { rendered } : {}),
    };
  }

  /** What hooks would answer from now. */
  get snapshot(): Snapshot {
    return this.#renderer.current();
  }

  /** Where it listens; undefined while it does not run. */
  get listening(): Listening | undefined {
    return this.#listening;
  }

  /** Whether it serves, and how well. */
  health(): HealthReport {
    const unsynced = this.cache.unsynced();
    const stale = this.cache.stale();
    const hooks = this.metrics.recentHookCalls();
    return {
      notReady: unsynced ? [unsynced] : this.#notServing(),
      degraded: [
        ...(stale ? [stale] : []),
        ...degradation({ hooks, caches: {} }, this.#options.clock.now()),
      ],
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
    this.#listening = { httpPort: http.port };
    log.info("serving metrics and health", { url: http.url });
    await runToTheEnd({
      signal,
      clock,
      log,
      cache: this.cache,
      engines: [...this.#engines.values()],
      elect: (stop, lead) => this.#leadership.run(stop, lead),
      terms: this.#terms,
      serve: (stop) => this.#serve(stop),
      unserve: (graceMs) => this.#unserve(graceMs),
      cut: () => this.#cut.abort(new Error("the operator stops")),
      flush: () => this.#events.flush(),
      http,
    });
  }

  async #serve(stop: AbortSignal): Promise<void> {
    const { clock, grpcAddress, log } = this.#options;
    // What hooks render before every tailnet was tried would lack the hosts that are
    // known by name, and break what Envoy has. Who follows has them from the status.
    this.#known.look();
    const known = Promise.race([this.#known.settled, this.#leadership.follows()]);
    await within(known, { clock, ms: SETTLE_MS, signal: stop });
    if (stop.aborted) return;
    this.#renderer.start();
    const grpcPort = await this.#extension.start(grpcAddress);
    if (this.#listening) this.#listening = { ...this.#listening, grpcPort };
    log.info("ready");
  }

  async #unserve(graceMs: number): Promise<void> {
    const served = this.#listening?.grpcPort !== undefined;
    this.#listening = undefined;
    if (served && this.#leadership.shared) await sleep(this.#options.clock, DRAIN_MS);
    if (served) await this.#extension.stop(graceMs);
    this.#renderer.stop();
  }

  #notServing(): string[] {
    if (this.#listening?.grpcPort !== undefined) return [];
    return [`hooks are not served${this.#known.waitingFor()}`];
  }

  #tailnetObjects(): readonly TailscaleTailnet[] {
    return this.cache.list<TailscaleTailnet>(TailscaleTailnet.resource);
  }

  #createTerms(keys: AuthKeys): Terms {
    const { cache, tailnets } = this;
    const serves = () => this.#listening?.grpcPort !== undefined;
    const engines = [...this.#engines.values()];
    const hooks = this.#hooks;
    return new Terms({ cache, tailnets, hooks, keys, engines, serves, types: TYPES_READ });
  }

  #createEngines(keys: AuthKeys): ReadonlyMap<string, Engine> {
    const { cache, tailnets, metrics } = this;
    const { client, fence } = this.#leadership;
    const events = this.#events;
    const parts = { ...this.#options, client, fence, cache, tailnets, metrics, events };
    const engineOf = (controller: typeof CONTROLLERS[number]) =>
      new Engine({
        ...parts,
        controller,
        world: () => this.world,
        runner: new ActionRunner({ ...parts, keys }, fieldManagerOf(controller)),
        onRun: (key, first) => this.#ran(controller.name, { key, first }),
      });
    return new Map(CONTROLLERS.map((controller) => [controller.name, engineOf(controller)]));
  }

  #createExtension(): ExtensionServer {
    const { clock, log, maxMessageBytes } = this.#options;
    return new ExtensionServer({
      snapshot: () => this.#renderer.current(),
      clock,
      log: log.named("extension"),
      behind: (revisions) => this.#gate.behind(revisions),
      onCall: (call) => {
        countHookCall(call, this.metrics);
        this.#hooks.record(call, this.#renderer.current().gateways);
      },
      ...(maxMessageBytes ? { maxMessageBytes } : {}),
    });
  }

  #connect(): void {
    this.cache.onChange((type, change) => {
      if (type === TailscaleTailnet.resource) this.#followTailnet(change);
      if (type === TailscaleGatewayRevision.resource) this.#followRevision(change);
      this.#renderer.changed(type);
      for (const engine of this.#engines.values()) engine.changed(type, change);
      if (type === TailscaleTailnet.resource) this.#known.look();
    });
    this.tailnets.onChange((tailnet) => this.#tailnetChanged(tailnet));
  }

  #ran(controller: string, { key, first }: { key: string; first: boolean }): void {
    if (first && controller === tailnetController.name) this.#tailnetChanged(key);
  }

  #tailnetChanged(tailnet: string): void {
    this.#renderer.changed();
    for (const engine of this.#engines.values()) engine.tailnetChanged(tailnet);
    this.#known.look();
  }

  #hooksChanged(): void {
    const { rendered } = this.#renderer;
    this.#gate.rendered(new Map([...rendered ?? []].map(([key, { hash }]) => [key, hash])));
    for (const engine of this.#engines.values()) engine.hooksChanged();
  }

  #secretKnown(key: string): void {
    const { namespace } = this.#options.settings;
    for (const tailnet of this.#tailnetObjects()) {
      if (credentialKey(tailnet, namespace) !== key) continue;
      this.#engines.get(tailnetController.name)?.add(tailnet.metadata.name);
    }
  }

  #followTailnet({ type, object }: Change<KubeObject>): void {
    const { namespace } = this.#options.settings;
    const keys = this.#tailnetObjects().map((tailnet) => credentialKey(tailnet, namespace));
    this.cache.secrets.follow(new Set(keys));
    if (type === "deleted") this.tailnets.forget(keyOf(object));
  }

  #followRevision({ type, object }: Change<KubeObject>): void {
    const { spec } = object as TailscaleGatewayRevision;
    if (type === "deleted") {
      this.#hooks.forget(keyOf(object));
      this.#gate.forget(keyOf(object));
    } else this.#hooks.asked(keyOf(object), spec.revision);
  }
}
