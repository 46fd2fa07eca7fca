/**
 * A Lease (`coordination.k8s.io/v1`): the object by which several processes agree
 * on who of them acts.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import type { KubeObject, ResourceType } from "../core/object.ts";
import type { KubeClient } from "./client.ts";
import { isConflict, isNotFound } from "./errors.ts";

/** The type of Leases. */
export const LEASE: ResourceType = {
  group: "coordination.k8s.io",
  version: "v1",
  kind: "Lease",
  plural: "leases",
  namespaced: true,
};

/** What a Lease says. Times are of the holder's clock, and for people. */
export interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  /** How often the holder has changed. */
  readonly leaseTransitions?: number;
}

/** A Lease. */
export type Lease = KubeObject & { readonly spec?: LeaseSpec };

/** How long things take, in milliseconds. */
export interface LeaseTiming {
  /** A Lease that was not renewed for so long may be taken. */
  readonly durationMs: number;
  readonly renewMs: number;
  /** At most so long until the next try of whoever wants the Lease, or failed to renew it. */
  readonly retryMs: number;
  /** A leader writes nothing in the last part of its Lease: a write takes time to arrive. */
  readonly marginMs: number;
}

/** The times that client-go's users know, with fewer renewals. */
export const LEASE_TIMING: LeaseTiming = {
  durationMs: 15_000,
  renewMs: 5_000,
  retryMs: 2_000,
  marginMs: 3_000,
};

/** Options of {@linkcode LeaseClient}. */
export interface LeaseClientOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly namespace: string;
  /** Of the Lease. */
  readonly name: string;
  /** Of the process; no two that run may have the same. */
  readonly identity: string;
  readonly durationMs: number;
}

/** Somebody else has the Lease, or it is gone. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";

  constructor(readonly holder: string | undefined) {
    super(`the lease is lost${holder ? ` to ${holder}` : ""}`);
  }
}

/**
 * Reads and writes one Lease. Each write names the version that it changes, so that
 * of two who write at once one gets a conflict (409).
 */
export class LeaseClient {
  readonly #options: LeaseClientOptions;

  constructor(options: LeaseClientOptions) {
    this.#options = options;
  }

  /** The Lease; undefined where there is none yet. */
  async read(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, name, namespace } = this.#options;
    try {
      return await client.get<Lease>(LEASE, name, namespace, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Becomes the holder of the Lease as it was read. @throws {KubeApiError} 409 */
  async take(lease: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { client, identity, name, namespace } = this.#options;
    const now = this.#now();
    const { holderIdentity, leaseTransitions = 0 } = lease?.spec ?? {};
    const spec = {
      ...this.#claim(now),
      acquireTime: now,
      leaseTransitions: lease && holderIdentity !== identity
        ? leaseTransitions + 1
        : leaseTransitions,
    };
    if (lease) return await this.#patch(lease, spec, signal);
    const fresh = {
      apiVersion: "coordination.k8s.io/v1",
      kind: LEASE.kind,
      metadata: { name, namespace },
      spec,
    };
    return await client.create<Lease>(LEASE, fresh, { signal });
  }

  /** Stays the holder. @throws {LeaseLostError} */
  async renew(lease: Lease, signal: AbortSignal): Promise<Lease> {
    try {
      return await this.#patch(lease, this.#claim(this.#now()), signal);
    } catch (error) {
      if (isNotFound(error)) throw new LeaseLostError(undefined);
      if (!isConflict(error)) throw error;
      // Somebody may have put a label on it, or an answer to us was lost.
      const live = await this.read(signal);
      const holder = live?.spec?.holderIdentity;
      if (!live || holder !== this.#options.identity) throw new LeaseLostError(holder);
      return await this.#patch(live, this.#claim(this.#now()), signal);
    }
  }

  /** Gives it up, so that another one need not wait until it ends. */
  async release(lease: Lease, signal: AbortSignal): Promise<void> {
    await this.#patch(lease, { holderIdentity: null, renewTime: this.#now() }, signal);
  }

  #claim(renewTime: string): LeaseSpec {
    const { identity, durationMs } = this.#options;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      renewTime,
    };
  }

  #patch(lease: Lease, spec: object, signal: AbortSignal) {
    const { client, name, namespace } = this.#options;
    const { resourceVersion, uid } = lease.metadata;
    const change = { metadata: { resourceVersion, uid }, spec };
    const contentType = "application/merge-patch+json";
    return client.patch<Lease>(LEASE, name, namespace, change, { contentType, signal });
  }

  /** `MicroTime`: RFC 3339 with six digits. */
  #now(): string {
    return new Date(this.#options.clock.now()).toISOString().replace("Z", "000Z");
  }
}
