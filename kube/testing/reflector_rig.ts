/**
 * A reflector against a scripted API server, for tests.
 *
 * @module
 */
import { FakeClock } from "../../core/clock_fake.ts";
import { Reflector, type ReflectorOptions, type ReflectorState } from "../reflector.ts";
import { type Change, Store } from "../store.ts";
import {
  CONFIG_MAPS,
  type ConfigMap,
  configMap,
  type Handler,
  listOf,
  ScriptedServer,
  until,
  WatchBody,
} from "./scripted.ts";

/** A reflector against a scripted server, and what it did. */
export class Rig implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly store = new Store<ConfigMap>();
  readonly changes: string[] = [];
  readonly states: ReflectorState["at"][] = [];
  readonly retries: number[] = [];
  readonly watches: WatchBody[] = [];
  readonly server: ScriptedServer;
  readonly reflector: Reflector<ConfigMap>;
  readonly abort = new AbortController();
  readonly running: Promise<void>;

  constructor(handler: (rig: Rig) => Handler, options: Partial<ReflectorOptions<ConfigMap>> = {}) {
    this.server = new ScriptedServer(handler(this));
    this.reflector = new Reflector<ConfigMap>({
      client: this.server.client,
      type: CONFIG_MAPS,
      store: this.store,
      clock: this.clock,
      random: () => 0.5,
      onChange: (change) => this.changes.push(describe(change)),
      onState: (state) => this.states.push(state.at),
      onFailure: (_error, ms) => this.retries.push(ms),
      ...options,
    });
    this.running = this.reflector.run(this.abort.signal);
  }

  /** Opens a watch that the test writes to. */
  watch(): Response {
    const body = new WatchBody();
    this.watches.push(body);
    return body.response;
  }

  /** Waits for the n-th failure, then lets its wait pass. */
  async passFailure(n: number): Promise<void> {
    await until(() => this.retries.length >= n && this.clock.pending > 0);
    this.clock.advance(this.retries[n - 1]!);
  }

  /** How often the server was asked to list, and to watch. */
  get counts(): { lists: number; watches: number } {
    const watches = this.server.queries().filter((query) => query.watch).length;
    return { lists: this.server.requests.length - watches, watches };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort.abort();
    await this.running;
    await this.server[Symbol.asyncDispose]();
  }
}

function describe({ type, object }: Change<ConfigMap>): string {
  return `${type} ${object.metadata.name}@${object.metadata.resourceVersion}`;
}

export function isWatch(request: Request): boolean {
  return new URL(request.url).searchParams.has("watch");
}

export function queryOf(request: Request, name: string): string | null {
  return new URL(request.url).searchParams.get(name);
}

/** One object in the list, then watches that the test writes to. */
export const oneObject = (rig: Rig): Handler => (request) =>
  isWatch(request) ? rig.watch() : listOf([configMap("a", "10")], "10");
