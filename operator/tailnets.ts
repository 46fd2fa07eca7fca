/**
 * The tailnets' APIs: a client and the list of devices for each TailscaleTailnet.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { TailnetConnection } from "../controllers/controller.ts";
import type { TailnetState } from "../controllers/world.ts";
import { TailscaleClient } from "../tailscale/client.ts";
import { CredentialsInvalid, ScopeMissing } from "../tailscale/errors.ts";
import { DeviceInventory } from "../tailscale/inventory.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { checkFailureOf, TailnetClosedError } from "./failures.ts";

interface Entry {
  readonly client: TailscaleClient;
  readonly inventory: DeviceInventory;
  state: TailnetState;
  /** Failed checks in a row. */
  failures: number;
}

/** Options of {@linkcode Tailnets}. */
export interface TailnetsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How requests are sent; default: Deno's fetch. */
  readonly fetch?: typeof fetch;
  readonly userAgent: string;
}

/** Holds what is known of each tailnet, and the only way to change it. */
export class Tailnets {
  readonly #options: TailnetsOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #listeners: ((tailnet: string) => void)[] = [];
  #states: ReadonlyMap<string, TailnetState> = new Map();

  constructor(options: TailnetsOptions) {
    this.#options = options;
  }

  /** What is known, by the name of the TailscaleTailnet. */
  get states(): ReadonlyMap<string, TailnetState> {
    return this.#states;
  }

  /** Calls the listener after every later change, with the tailnet's name. */
  onChange(listener: (tailnet: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Opens a tailnet, or tries its credential again. A refusal is in its state, not thrown. */
  async open(name: string, connection: TailnetConnection): Promise<void> {
    const known = this.#entries.get(name);
    const entry = known?.state.fingerprint === connection.fingerprint
      ? known
      : this.#create(name, connection);
    this.#entries.set(name, entry);
    const now = this.#options.clock.now();
    try {
      const { missing } = await entry.client.checkScopes();
      entry.failures = 0;
      this.#update(name, entry, {
        check: { at: now, scopes: entry.client.scopes ?? [], missing },
      });
    } catch (error) {
      entry.failures++;
      this.#update(name, entry, {
        check: { at: now, failure: checkFailureOf(error, now, entry.failures) },
      });
    }
  }

  /** Forgets a tailnet. */
  close(name: string): void {
    if (this.#entries.delete(name)) this.#publish(name);
  }

  /** The API of an open tailnet. @throws {TailnetClosedError} */
  client(name: string): TailscaleClient {
    return this.#entry(name).client;
  }

  /** Lists the devices. A failed read leaves the list as it was. */
  async listDevices(name: string, sought: readonly string[]): Promise<void> {
    const entry = this.#entry(name);
    const { inventory } = entry;
    const triedAt = this.#options.clock.now();
    try {
      await inventory.refresh();
      this.#update(name, entry, {
        devices: inventory.devices,
        triedAt,
        soughtIds: new Set(sought),
        ...(inventory.fetchedAt === undefined ? {} : { fetchedAt: inventory.fetchedAt }),
      });
    } catch (error) {
      this.#listFailed(name, entry, { error, triedAt, sought });
    }
  }

  #listFailed(
    name: string,
    entry: Entry,
    { error, triedAt, sought }: { error: unknown; triedAt: number; sought: readonly string[] },
  ): void {
    const refused = error instanceof CredentialsInvalid || error instanceof ScopeMissing;
    const failure = checkFailureOf(error, triedAt, ++entry.failures);
    this.#options.log.warn("devices could not be listed", { tailnet: name, error });
    this.#update(name, entry, {
      triedAt,
      soughtIds: new Set(sought),
      // What else goes wrong passes, and what was known stays known.
      ...(refused ? { check: { at: triedAt, failure } } : {}),
    });
  }

  /** Removes a device from the tailnet. */
  async deleteDevice(name: string, nodeId: string): Promise<void> {
    const entry = this.#entry(name);
    await entry.client.deleteDevice(nodeId);
    entry.inventory.remove(nodeId);
    this.#update(name, entry, { devices: entry.inventory.devices });
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (!entry) throw new TailnetClosedError(name);
    return entry;
  }

  #create(name: string, connection: TailnetConnection): Entry {
    const { clock, metrics, userAgent } = this.#options;
    const send = this.#options.fetch ?? fetch;
    const client = new TailscaleClient({
      apiURL: connection.apiURL,
      tailnet: connection.organization,
      credential: {
        clientId: connection.clientID,
        clientSecret: connection.clientSecret.reveal(),
      },
      clock,
      userAgent,
      fetch: async (input, init) => {
        try {
          const response = await send(input, init);
          metrics.tailscaleRequest(name, response.status);
          return response;
        } catch (error) {
          metrics.tailscaleRequest(name, "error");
          throw error;
        }
      },
    });
    return {
      client,
      inventory: new DeviceInventory({ source: client, clock }),
      failures: 0,
      state: {
        fingerprint: connection.fingerprint,
        clientID: connection.clientID,
        devices: [],
        soughtIds: new Set(),
      },
    };
  }

  #update(name: string, entry: Entry, change: Partial<TailnetState>): void {
    // It may have been closed, or opened with another credential, while we waited.
    if (this.#entries.get(name) !== entry) return;
    entry.state = { ...entry.state, ...change };
    this.#publish(name);
  }

  #publish(name: string): void {
    this.#states = new Map([...this.#entries].map(([key, { state }]) => [key, state]));
    for (const listener of this.#listeners) listener(name);
  }
}
