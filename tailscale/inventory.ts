/**
 * The one list of a tailnet's devices that all objects share.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { Device } from "./schemas.ts";

/** Where the list comes from: a `TailscaleClient`. */
export interface DeviceSource {
  listDevices(): Promise<readonly Device[]>;
}

/**
 * Holds the last whole list. A read that fails changes nothing, so that nobody
 * takes a device for gone because the API was.
 */
export class DeviceInventory {
  readonly #source: DeviceSource;
  readonly #clock: Clock;
  #byNodeId: ReadonlyMap<string, Device> = new Map();
  #devices: readonly Device[] = [];
  #fetchedAt: number | undefined;
  #version = 0;
  #flight: Promise<void> | undefined;
  /** Removed while a read was under way, which may still list them. */
  #removed = new Set<string>();

  constructor(options: { source: DeviceSource; clock: Clock }) {
    this.#source = options.source;
    this.#clock = options.clock;
  }

  /** The devices of the last read that succeeded, ordered by node id. */
  get devices(): readonly Device[] {
    return this.#devices;
  }

  /** When that read began, in milliseconds since the epoch; undefined before the first. */
  get fetchedAt(): number | undefined {
    return this.#fetchedAt;
  }

  /** Grows with each change of the list, and with nothing else. */
  get version(): number {
    return this.#version;
  }

  /**
   * Reads the list anew. Callers that ask while a read is under way share it.
   *
   * @throws {TailscaleError} as the client does; the list is then as it was.
   */
  refresh(): Promise<void> {
    this.#flight ??= this.#read().finally(() => this.#flight = undefined);
    return this.#flight;
  }

  byNodeId(nodeId: string): Device | undefined {
    return this.#byNodeId.get(nodeId);
  }

  /** Takes a device out at once, after it was deleted in the tailnet. */
  remove(nodeId: string): void {
    if (this.#flight) this.#removed.add(nodeId);
    if (!this.#byNodeId.has(nodeId)) return;
    this.#replace(this.#devices.filter((device) => device.nodeId !== nodeId));
  }

  async #read(): Promise<void> {
    this.#removed.clear();
    const startedAt = this.#clock.now();
    const read = await this.#source.listDevices();
    const devices = read.filter((device) => !this.#removed.has(device.nodeId))
      .sort((a, b) => a.nodeId < b.nodeId ? -1 : a.nodeId > b.nodeId ? 1 : 0);
    this.#fetchedAt = startedAt;
    if (JSON.stringify(devices) !== JSON.stringify(this.#devices)) this.#replace(devices);
  }

  #replace(devices: readonly Device[]): void {
    this.#devices = Object.freeze([...devices]);
    this.#byNodeId = new Map(devices.map((device) => [device.nodeId, device]));
    this.#version++;
  }
}
