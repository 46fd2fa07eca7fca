/**
 * The tailnets' APIs: a client and the list of devices for each TailscaleTailnet.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { TailnetConnection } from "../controllers/controller.ts";
import type { TailnetState } from "../controllers/world.ts";
import {
  type AuthKey,
  type AuthKeyRequest,
  type Credential,
  type Device,
  TailscaleClient,
} from "../tailscale/client.ts";
import { CredentialsInvalid, ScopeMissing } from "../tailscale/errors.ts";
import { DeviceInventory } from "../tailscale/inventory.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { type Attempt, checkFailureOf, TailnetClosedError } from "./failures.ts";
import { type IdentityTokens, noIdentity } from "./identity.ts";
import { Limiters } from "./limiters.ts";

interface Entry {
  readonly client: TailscaleClient;
  readonly inventory: DeviceInventory;
  state: TailnetState;
  /** Failures in a row. */
  failures: number;
}

/** Options of {@linkcode Tailnets}. */
export interface TailnetsOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How requests are sent; default: Deno's fetch. */
  readonly fetch?: typeof fetch;
  /** Gives a token of the operator's own account for an audience; see {@linkcode identityTokens}. */
  readonly identityToken?: IdentityTokens;
  readonly userAgent: string;
  readonly random?: () => number;
  /** Ends all calls. */
  readonly signal?: AbortSignal;
  /** Throws when this replica may change nothing. */
  readonly fence?: (what: string) => void;
}

/** Holds what is known of each tailnet, and the only way to change it. */
export class Tailnets {
  readonly #options: TailnetsOptions;
  readonly #entries = new Map<string, Entry>();
  /** What closed tailnets last showed: a credential that goes takes no host from Envoy. */
  readonly #closed = new Map<string, TailnetState>();
  readonly #limiters: Limiters;
  readonly #listeners: ((tailnet: string) => void)[] = [];
  #states: ReadonlyMap<string, TailnetState> = new Map();

  constructor(options: TailnetsOptions) {
    this.#options = options;
    this.#limiters = new Limiters(options.clock);
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
    const same = known?.state.fingerprint === connection.fingerprint;
    const before = known?.state ?? this.#closed.get(name);
    const entry = known && same ? known : this.#create(name, connection, before);
    this.#entries.set(name, entry);
    this.#closed.delete(name);
    try {
      const { missing } = await entry.client.checkScopes();
      entry.failures = 0;
      const at = this.#options.clock.now();
      this.#update(name, entry, { check: { at, scopes: entry.client.scopes ?? [], missing } });
    } catch (error) {
      const attempt = this.#failed(entry);
      const check = { at: attempt.now, failure: checkFailureOf(error, attempt) };
      this.#update(name, entry, { check });
      return;
    }
    // What an earlier credential showed may be another tailnet's.
    if (!same && before?.fetchedAt !== undefined) {
      await this.listDevices(name, [...before.soughtIds]);
    }
  }

  /** Calls a tailnet's API no more. The devices that it had stay known. */
  close(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    const { check: _, ...state } = entry.state;
    this.#entries.delete(name);
    if (state.fetchedAt !== undefined) this.#closed.set(name, { ...state, fingerprint: "" });
    this.#limiters.release(name);
    this.#publish(name);
  }

  /** The TailscaleTailnet is gone, and with it all that is known of it. */
  forget(name: string): void {
    this.close(name);
    if (this.#closed.delete(name)) this.#publish(name);
  }

  /** Nothing is known of any tailnet any more. */
  forgetAll(): void {
    for (const name of [...this.#states.keys()]) this.forget(name);
  }

  /** Makes an auth key. @throws {TailscaleError} {TailnetClosedError} {NotLeaderError} */
  async createAuthKey(name: string, request: AuthKeyRequest): Promise<AuthKey> {
    this.#options.fence?.("create an auth key");
    return await this.#call(name, ({ client }) => client.createAuthKey(request));
  }

  /** Revokes an auth key. @throws {TailscaleError} {TailnetClosedError} */
  deleteAuthKey(name: string, id: string): Promise<void> {
    return this.#call(name, ({ client }) => client.deleteAuthKey(id));
  }

  /**
   * A device by its id; undefined when the tailnet has none. Where the list lacks it,
   * the list is read anew: it may have come since.
   *
   * @throws {TailscaleError} {TailnetClosedError}
   */
  async findDevice(name: string, nodeId: string): Promise<Device | undefined> {
    return await this.#call(name, async (entry) => {
      const { inventory } = entry;
      if (!inventory.byNodeId(nodeId)) {
        await inventory.refresh();
        const { devices, fetchedAt = this.#options.clock.now() } = inventory;
        this.#update(name, entry, { devices, fetchedAt });
      }
      return inventory.byNodeId(nodeId);
    });
  }

  /** Removes a device from the tailnet. @throws {TailscaleError} {TailnetClosedError} {NotLeaderError} */
  async deleteDevice(name: string, nodeId: string): Promise<void> {
    this.#options.fence?.("delete a device");
    await this.#call(name, async (entry) => {
      await entry.client.deleteDevice(nodeId);
      entry.inventory.remove(nodeId);
      const devices = entry.state.devices.filter((device) => device.nodeId !== nodeId);
      this.#update(name, entry, { devices });
    });
  }

  /** Lists the devices. A failed read leaves the list as it was, and is in the state, not thrown. */
  async listDevices(name: string, sought: readonly string[]): Promise<void> {
    const entry = this.#entry(name);
    const { inventory } = entry;
    const tried = { triedAt: this.#options.clock.now(), soughtIds: new Set(sought) };
    try {
      await inventory.refresh();
    } catch (error) {
      this.#options.log.warn("devices could not be listed", { tailnet: name, error });
      this.#update(name, entry, { ...tried, ...this.#refusal(entry, error) });
      return;
    }
    entry.failures = 0;
    const { devices, fetchedAt } = inventory;
    const fetched = fetchedAt === undefined ? {} : { fetchedAt };
    this.#update(name, entry, { ...tried, devices, ...fetched });
  }

  /** A call whose refusal says something about the credential as a whole. */
  async #call<T>(name: string, send: (entry: Entry) => Promise<T>): Promise<T> {
    const entry = this.#entry(name);
    try {
      return await send(entry);
    } catch (error) {
      const refusal = this.#refusal(entry, error);
      if (refusal.check) this.#update(name, entry, refusal);
      throw error;
    }
  }

  /**
   * What a failed call says about the credential. What else goes wrong passes, and
   * what was known stays known.
   */
  #refusal(entry: Entry, error: unknown): Pick<TailnetState, "check"> {
    const { check } = entry.state;
    if (error instanceof ScopeMissing && check && "missing" in check) {
      const { missing } = check;
      if (missing.includes(error.scope)) return {};
      return { check: { ...check, missing: [...missing, error.scope] } };
    }
    if (!(error instanceof CredentialsInvalid || error instanceof ScopeMissing)) return {};
    const attempt = this.#failed(entry);
    return { check: { at: attempt.now, failure: checkFailureOf(error, attempt) } };
  }

  #failed(entry: Entry): Attempt {
    const { clock, random = Math.random } = this.#options;
    return { now: clock.now(), tries: ++entry.failures, random: random() };
  }

  #entry(name: string): Entry {
    const entry = this.#entries.get(name);
    if (!entry) throw new TailnetClosedError(name);
    return entry;
  }

  /** `before`: what an earlier credential showed, which stays true until a list says otherwise. */
  #create(name: string, connection: TailnetConnection, before: TailnetState | undefined): Entry {
    const { clock, metrics, userAgent, signal, random } = this.#options;
    const { apiURL, organization, fingerprint } = connection;
    const client = new TailscaleClient({
      apiURL,
      tailnet: organization,
      credential: this.#credential(connection),
      clock,
      userAgent,
      limiter: this.#limiters.of(name),
      onExchange: ({ status }) => metrics.tailscaleRequest(name, status ?? "error"),
      ...(this.#options.fetch ? { fetch: this.#options.fetch } : {}),
      ...(signal ? { signal } : {}),
      ...(random ? { random } : {}),
    });
    const { devices = [], soughtIds = new Set<string>(), fetchedAt, triedAt } = before ?? {};
    return {
      client,
      inventory: new DeviceInventory({ source: client, clock }),
      failures: 0,
      state: {
        fingerprint,
        clientID: connection.clientID,
        devices,
        soughtIds,
        ...(fetchedAt === undefined ? {} : { fetchedAt }),
        ...(triedAt === undefined ? {} : { triedAt }),
      },
    };
  }

  #credential({ clientID: clientId, proof }: TailnetConnection): Credential {
    if ("clientSecret" in proof) return { clientId, clientSecret: proof.clientSecret.reveal() };
    const { identityToken = noIdentity } = this.#options;
    return { clientId, idToken: () => identityToken(proof.audience) };
  }

  #update(name: string, entry: Entry, change: Partial<TailnetState>): void {
    // It may have been closed, or opened with another credential, while we waited.
    if (this.#entries.get(name) !== entry) return;
    entry.state = { ...entry.state, ...change };
    this.#publish(name);
  }

  #publish(name: string): void {
    const open = [...this.#entries].map(([key, { state }]) => [key, state] as const);
    this.#states = new Map([...this.#closed, ...open]);
    for (const listener of this.#listeners) listener(name);
  }
}
