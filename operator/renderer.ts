/**
 * Keeps the snapshot that the hooks answer from in step with the world.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { ResourceType } from "../core/object.ts";
import type { HTTPRoute, ReferenceGrant } from "../api/gateway_api.ts";
import { HTTP_ROUTE, REFERENCE_GRANT, SERVICE, STATEFUL_SET } from "../api/resources.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { TailscaleGatewayRevision } from "../api/tailscale_gateway_revision.ts";
import { resolveRoutes } from "../backends/routes.ts";
import { viewOf } from "../controllers/endpoints/view.ts";
import type { RenderedGateway, World } from "../controllers/world.ts";
import {
  buildSnapshot,
  clusterNameOf,
  emptySnapshot,
  type Snapshot,
} from "../extension/snapshot.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** The types whose changes can change what hooks render. */
const SOURCES: ReadonlySet<ResourceType> = new Set([
  HTTP_ROUTE,
  REFERENCE_GRANT,
  SERVICE,
  STATEFUL_SET,
  TailscaleEndpoints.resource,
]);

/** Changes that come together are rendered together. */
const COALESCE_MS = 20;

/** Options of {@linkcode Renderer}. */
export interface RendererOptions {
  readonly world: () => World;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Called when what is rendered for some Gateway changed. */
  readonly onChange: () => void;
}

/** Builds snapshots, and swaps them by one assignment. */
export class Renderer {
  readonly #options: RendererOptions;
  #snapshot: Snapshot = emptySnapshot;
  #rendered: ReadonlyMap<string, RenderedGateway> | undefined;
  #dirty = true;
  #running = false;
  #cancel: (() => void) | undefined;

  constructor(options: RendererOptions) {
    this.#options = options;
  }

  /** What is rendered for each Gateway; undefined before the world is known. */
  get rendered(): ReadonlyMap<string, RenderedGateway> | undefined {
    return this.#rendered;
  }

  /** The world is known: from now on snapshots are built. */
  start(): void {
    this.#running = true;
    this.#renderSoon();
  }

  /** No snapshot is built by itself any more. */
  stop(): void {
    this.#running = false;
    this.#cancelTimer();
  }

  /** An object of that type, or a tailnet, changed. */
  changed(type?: ResourceType): void {
    if (type && !SOURCES.has(type)) return;
    this.#dirty = true;
    if (!this.#running) return;
    this.#cancel ??= this.#options.clock.setTimer(() => this.#renderSoon(), COALESCE_MS);
  }

  /**
   * The snapshot of the world as it is at this moment.
   *
   * @throws what is wrong with the world; a hook that cannot know must not answer.
   */
  current(): Snapshot {
    if (this.#dirty && this.#running) this.#render();
    return this.#snapshot;
  }

  /** A fault here may not end the process. Hooks fail until a later change mends it. */
  #renderSoon(): void {
    this.#cancel = undefined;
    try {
      this.current();
    } catch (error) {
      this.#options.log.error("what hooks render could not be built", { error });
    }
  }

  #cancelTimer(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #render(): void {
    this.#cancelTimer();
    this.#snapshot = buildSnapshot({ clusters: clustersOf(this.#options.world()) }, this.#snapshot);
    this.#dirty = false;
    this.#options.metrics.snapshotBuilt(this.#snapshot.version);
    const before = this.#rendered;
    this.#rendered = this.#nextRendered();
    if (this.#rendered !== before) this.#options.onChange();
  }

  /** The hashes with their times; the same map where no hash changed. */
  #nextRendered(): ReadonlyMap<string, RenderedGateway> {
    const before = this.#rendered ?? new Map<string, RenderedGateway>();
    const { gateways } = this.#snapshot;
    const same = before.size === gateways.size &&
      [...gateways].every(([gateway, hash]) => before.get(gateway)?.hash === hash);
    if (same) return before;
    const now = this.#options.clock.now();
    return new Map([...gateways].map(([gateway, hash]) => {
      const old = before.get(gateway);
      if (old?.hash === hash) return [gateway, old];
      const clean = !old || this.#isWritten(gateway, old.hash);
      return [gateway, { hash, changedAt: now, dirtySince: clean ? now : old.dirtySince }];
    }));
  }

  #isWritten(gateway: string, hash: string): boolean {
    const revision = this.#options.world().objects.get<TailscaleGatewayRevision>(
      TailscaleGatewayRevision.resource,
      gateway,
    );
    return revision?.spec.revision.startsWith(`${hash}.`) ?? false;
  }
}

/** The clusters of all routes whose rules have backends of ours alone. */
export function clustersOf(world: World): Parameters<typeof buildSnapshot>[0]["clusters"] {
  const { objects } = world;
  const resolved = resolveRoutes({
    routes: objects.list<HTTPRoute>(HTTP_ROUTE),
    grants: objects.list<ReferenceGrant>(REFERENCE_GRANT),
    endpoints: (key) => {
      const endpoints = objects.get<TailscaleEndpoints>(TailscaleEndpoints.resource, key);
      return endpoints && viewOf(world, endpoints);
    },
  });
  return resolved.map(({ route, rule, backend, gateways }) => ({
    cluster: clusterNameOf(route, rule),
    backend,
    gateways,
  }));
}
