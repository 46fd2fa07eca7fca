/**
 * Addresses of Services, out of 10.96.0.0/16.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import { invalid } from "./errors.ts";
import { asObject, clone, fields, mapAt } from "./json.ts";
import type { Storage } from "./storage.ts";
import type { ServedType } from "./types.ts";

const FIRST = 10;
const LAST = 256 * 256 - 2;

/** Gives each Service an address of its own, which it keeps. */
export class ClusterIpAllocator {
  readonly #storage: Storage;
  #next = FIRST;

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * The Service with its address: the one it has, the one it asks for, or a free one.
   *
   * @throws {ApiError} 422 when it asks for another one than it has, or for one that is taken.
   */
  assign(type: ServedType, service: KubeObject, live?: KubeObject): KubeObject {
    const copy = clone(fields(service));
    const spec = mapAt(copy, "spec") ?? {};
    if (spec["type"] === "ExternalName") return service;
    const had = live && mapAt(fields(live), "spec")?.["clusterIP"];
    const wanted = spec["clusterIP"] || had;
    const name = service.metadata.name;
    if (had && wanted !== had) {
      throw invalid(type, name, [
        `spec.clusterIPs[0]: Invalid value: ["${wanted}"]: may not change once set`,
      ]);
    }
    if (wanted && wanted !== "None" && !had && this.#taken(type).has(String(wanted))) {
      throw invalid(type, name, [
        `spec.clusterIPs: Invalid value: ["${wanted}"]: failed to allocate IP ${wanted}: ` +
        "provided IP is already allocated",
      ]);
    }
    const address = wanted || this.#free(type);
    copy["spec"] = { ...spec, clusterIP: address, clusterIPs: [address] };
    return asObject(copy);
  }

  #taken(type: ServedType): Set<string> {
    return new Set(
      this.#storage.list(type).map((s) => String(mapAt(fields(s), "spec")?.["clusterIP"] ?? "")),
    );
  }

  #free(type: ServedType): string {
    const taken = this.#taken(type);
    for (let tries = FIRST; tries <= LAST; tries++) {
      const address = `10.96.${this.#next >> 8}.${this.#next & 255}`;
      this.#next = this.#next >= LAST ? FIRST : this.#next + 1;
      if (!taken.has(address)) return address;
    }
    throw invalid(type, "", ["spec.clusterIPs: Invalid value: []: the range is full"]);
  }
}
