/**
 * Shows what happens in the simulated cluster: progress while it happens, then
 * all objects in a table and what Envoy would get.
 *
 * @module
 */
import { stringify } from "yaml";
import { type Clock, sleep } from "../../core/clock.ts";
import { type Condition, keyOf, type KubeObject, type ResourceType } from "../../core/object.ts";
import { HTTP_ROUTE } from "../../api/resources.ts";
import { KINDS } from "../../api/registry.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import type { KubeClient } from "../../kube/client.ts";
import { Reflector } from "../../kube/reflector.ts";
import { Store } from "../../kube/store.ts";
import { renderTable } from "../table.ts";
import { SimulatedEnvoyGateway, type Translation } from "./envoy_gateway.ts";

interface WithStatus extends KubeObject {
  status?: { conditions?: Condition[] };
}

/** Options of {@linkcode Presenter}. */
export interface PresenterOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly extensionPort: number;
  readonly httpPort: number;
  readonly apiPort: number;
  /** Does the operator serve? */
  readonly ready: () => boolean;
}

/** After so long the table is shown although something is not ready. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 100;

/** The kinds that say whether they are ready. */
const SHOWN: readonly ResourceType[] = KINDS.filter(({ conditions }) => "Ready" in conditions)
  .map(({ resource }) => resource);

/** Watches the kinds of ours, and plays Envoy Gateway to see what it would get. */
export class Presenter {
  readonly #options: PresenterOptions;
  readonly #stores = new Map<ResourceType, Store<WithStatus>>();
  readonly #revisions = new Store<TailscaleGatewayRevision>();
  readonly #said = new Map<string, string>();
  /** By Gateway: what Envoy would get, and for which revision. */
  readonly #translations = new Map<string, { revision: string; translation: Translation }>();

  constructor(options: PresenterOptions) {
    this.#options = options;
  }

  /** Works until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const follow = <T extends KubeObject>(
      type: ResourceType,
      store: Store<T>,
      onChange: (object: T) => void = () => {},
    ) =>
      new Reflector<T>({ client, type, store, clock, onChange: ({ object }) => onChange(object) })
        .run(signal);
    const followed = SHOWN.map((type) => {
      const store = new Store<WithStatus>();
      this.#stores.set(type, store);
      return follow(type, store, (object) => this.#say(object));
    });
    await Promise.all([
      ...followed,
      follow(TailscaleGatewayRevision.resource, this.#revisions),
      this.#show(signal),
    ]);
  }

  async #show(signal: AbortSignal): Promise<void> {
    const gateway = new SimulatedEnvoyGateway({
      client: this.#options.client,
      port: this.#options.extensionPort,
    });
    const until = this.#options.clock.now() + PATIENCE_MS;
    let shown = false;
    try {
      while (!signal.aborted) {
        await this.#translate(gateway).catch((error) => {
          // At the end the server goes first.
          if (!signal.aborted) throw error;
        });
        if (!shown && (this.#done() || this.#options.clock.now() > until)) {
          await this.#print();
          shown = true;
        }
        await sleep(this.#options.clock, LOOK_MS, signal).catch(() => {});
      }
    } finally {
      gateway.close();
    }
  }

  /** A new revision makes Envoy Gateway translate. */
  async #translate(gateway: SimulatedEnvoyGateway): Promise<void> {
    if (!this.#options.ready()) return;
    for (const revision of this.#revisions.list()) {
      const key = keyOf(revision);
      const text = revision.spec.revision;
      if (this.#translations.get(key)?.revision === text) continue;
      const translation = await gateway.translate(revision);
      this.#translations.set(key, { revision: text, translation });
      console.log(`  Envoy Gateway translates Gateway ${key} ${text}`);
    }
  }

  #done(): boolean {
    const objects = [...this.#stores.values()].flatMap((store) => store.list());
    return this.#translations.size > 0 && objects.length > 0 &&
      objects.every((object) => conditionOf(object, "Ready")?.status === "True");
  }

  #say(object: WithStatus): void {
    const ready = conditionOf(object, "Ready");
    const name = `${object.kind} ${keyOf(object)}`;
    const line = ready ? `Ready=${ready.status} ${ready.reason}` : "seen";
    if (this.#said.get(name) === line) return;
    this.#said.set(name, line);
    console.log(`  ${name}: ${line}`);
  }

  async #print(): Promise<void> {
    const objects = [...this.#stores.values()].flatMap((store) => store.list());
    const rows = objects.flatMap((object) =>
      (object.status?.conditions ?? []).map(({ type, status, reason, message }, index) => [
        index === 0 ? object.kind : "",
        index === 0 ? keyOf(object) : "",
        type,
        status,
        reason,
        message,
      ])
    );
    const header = ["KIND", "NAME", "CONDITION", "STATUS", "REASON", "MESSAGE"];
    console.log(`\n${renderTable([header, ...rows])}\n`);
    const { items } = await this.#options.client.list(HTTP_ROUTE);
    console.log(
      `What Envoy gets for ${items.map((route) => `HTTPRoute ${keyOf(route)}`).join(", ")}:\n`,
    );
    const translations = [...this.#translations]
      .map(([gateway, { translation }]) => ({ gateway, ...translation }));
    for (const translation of translations) {
      console.log(stringify(translation, { lineWidth: 100 }));
    }
    const { extensionPort, httpPort, apiPort } = this.#options;
    console.log(
      `Serving: gRPC on 127.0.0.1:${extensionPort}, http://127.0.0.1:${httpPort}/metrics, ` +
        "/health, /healthz and /ready.\n" +
        // Without the user's own kubeconfig, so that none of its credentials are sent.
        `Look at it: kubectl --kubeconfig=/dev/null --server=http://127.0.0.1:${apiPort} ` +
        "get tailscale -A\nCtrl-C ends it.",
    );
  }
}

function conditionOf(object: WithStatus, type: string): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}
