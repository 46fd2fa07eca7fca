/**
 * Client of Tailscale's HTTP API (https://tailscale.com/api), one for each tailnet.
 *
 * @module
 */
import { type Call, orAbsent, whatOf } from "./call.ts";
import { checkId, checkServiceName, checkTags, keyDescription } from "./checks.ts";
import { NotFound } from "./errors.ts";
import { scopeMissing } from "./failure.ts";
import { missingScopes } from "./preflight.ts";
import {
  type AuthKey,
  type AuthKeyInfo,
  authKeyInfoSchema,
  authKeyListSchema,
  authKeySchema,
  type Device,
  deviceListSchema,
  type ServiceHost,
  serviceHostsSchema,
  serviceListSchema,
  serviceSchema,
  type VipService,
} from "./schemas.ts";
import { grantOf, type Scope } from "./scopes.ts";
import { AuthorizedHttp, type AuthorizedHttpOptions } from "./authorized_http.ts";

export type { ClientSecret, Credential, FederatedIdentity } from "./auth.ts";
export type { AuthKey, AuthKeyInfo, Device, ServiceHost, VipService } from "./schemas.ts";

/** How to reach one tailnet's API, and as whom. */
export type TailscaleClientOptions = AuthorizedHttpOptions;

/** What a new auth key is for. */
export interface AuthKeyRequest {
  /** The tags of the nodes that join with it; at least one. */
  readonly tags: readonly string[];
  /** Whether such a node is forgotten when it goes offline. */
  readonly ephemeral: boolean;
  /** Shown in the admin console; cut and cleaned to what Tailscale takes. */
  readonly description: string;
  /** @default the server's own, 90 days */
  readonly expirySeconds?: number;
}

/** Calls the API of one tailnet as one OAuth client. */
export class TailscaleClient {
  readonly #http: AuthorizedHttp;

  constructor(options: TailscaleClientOptions) {
    this.#http = new AuthorizedHttp(options);
  }

  /** Scopes of the last token; undefined before the first call or when not told. */
  get scopes(): readonly string[] | undefined {
    return this.#http.scopes;
  }

  /** Tags of the OAuth client; undefined like {@linkcode TailscaleClient.scopes}. */
  get grantedTags(): readonly string[] | undefined {
    return this.#http.grantedTags;
  }

  /**
   * Makes a single-use, pre-authorized auth key.
   *
   * @throws {TagsNotPermitted} when a tag is malformed or may not be given.
   */
  async createAuthKey(request: AuthKeyRequest): Promise<AuthKey> {
    const { tags, ephemeral, expirySeconds } = request;
    const call: Call = {
      operation: "createAuthKey",
      method: "POST",
      path: this.#inTailnet("keys"),
      scope: "auth_keys",
      tags,
      body: {
        capabilities: {
          devices: { create: { reusable: false, ephemeral, preauthorized: true, tags } },
        },
        description: keyDescription(request.description),
        ...(expirySeconds === undefined ? {} : { expirySeconds }),
      },
    };
    checkTags(call);
    return await this.#http.json(call, authKeySchema);
  }

  /** Reads what an auth key is for; undefined when it is not there. */
  async getAuthKey(id: string): Promise<AuthKeyInfo | undefined> {
    const call = this.#keyCall("getAuthKey", "GET", id);
    return await orAbsent(this.#http.json(call, authKeyInfoSchema));
  }

  /** Revokes an auth key; one that is gone is no error. */
  async deleteAuthKey(id: string): Promise<void> {
    await orAbsent(this.#http.send(this.#keyCall("deleteAuthKey", "DELETE", id)));
  }

  /** The ids of the auth keys that this OAuth client made. */
  listAuthKeys(): Promise<readonly { readonly id: string }[]> {
    return this.#http.json({
      operation: "listAuthKeys",
      method: "GET",
      path: this.#inTailnet("keys"),
      scope: "auth_keys",
    }, authKeyListSchema);
  }

  /** All devices, whole or not at all. */
  listDevices(): Promise<readonly Device[]> {
    return this.#http.json({
      operation: "listDevices",
      method: "GET",
      path: this.#inTailnet("devices"),
      scope: "devices:core",
    }, deviceListSchema);
  }

  /**
   * Removes a device by its stable id; one that is gone is no error.
   *
   * @throws {NotOurs} when it is shared in from another tailnet.
   */
  async deleteDevice(nodeId: string): Promise<void> {
    const call: Call = {
      operation: "deleteDevice",
      method: "DELETE",
      path: ["device", nodeId],
      scope: "devices:core",
      deletesDevice: true,
    };
    checkId(nodeId, call);
    await orAbsent(this.#http.send(call));
  }

  /** All Tailscale Services. */
  async listServices(): Promise<readonly VipService[]> {
    const call: Call = {
      operation: "listServices",
      method: "GET",
      path: this.#inTailnet("vip-services"),
      scope: "services",
    };
    return await this.#orAbsentService(call, this.#http.json(call, serviceListSchema)) ?? [];
  }

  /**
   * One Tailscale Service; undefined when it is not there.
   *
   * @throws {NameConflict} when a device has its DNS name.
   */
  async getService(name: string): Promise<VipService | undefined> {
    const call = this.#serviceCall("getService", "GET", name);
    return await this.#orAbsentService(call, this.#http.json(call, serviceSchema));
  }

  /**
   * Creates a service or replaces it whole. The API has no compare-and-swap: the
   * last writer wins. On an update send the addresses that it has.
   */
  async putService(service: VipService): Promise<void> {
    const base = this.#serviceCall("putService", "PUT", service.name);
    const call: Call = { ...base, body: service, tags: service.tags };
    checkTags(call, { allowNone: true });
    await this.#http.send(call);
  }

  /** Deletes a service; one that is gone is no error. */
  async deleteService(name: string): Promise<void> {
    const call = this.#serviceCall("deleteService", "DELETE", name);
    await this.#orAbsentService(call, this.#http.send(call));
  }

  /** The nodes that offer to host a service, and whether they may. */
  async listServiceHosts(name: string): Promise<readonly ServiceHost[]> {
    const base = this.#serviceCall("listServiceHosts", "GET", name);
    const call: Call = { ...base, path: this.#inTailnet("services", name, "devices") };
    return await this.#orAbsentService(call, this.#http.json(call, serviceHostsSchema)) ?? [];
  }

  /** Lets a node host a service. */
  async approveServiceHost(name: string, nodeId: string): Promise<void> {
    const call = this.#serviceCall("approveServiceHost", "POST", name);
    checkId(nodeId, call);
    const path = this.#inTailnet("services", name, "device", nodeId, "approved");
    await this.#http.send({ ...call, path, body: { approved: true } });
  }

  /**
   * Tries, without writing, what the operator needs, and names every scope that
   * the OAuth client lacks. Other failures are thrown.
   */
  async checkScopes(): Promise<{ missing: Scope[] }> {
    return { missing: await missingScopes(this) };
  }

  #inTailnet(...elements: string[]): string[] {
    return ["tailnet", this.#http.tailnet, ...elements];
  }

  #keyCall(operation: string, method: "GET" | "DELETE", id: string): Call {
    const call: Call = { operation, method, path: this.#inTailnet("keys", id), scope: "auth_keys" };
    checkId(id, call);
    return call;
  }

  #serviceCall(operation: string, method: Call["method"], name: string): Call {
    const path = this.#inTailnet("vip-services", name);
    const call: Call = { operation, method, path, scope: "services" };
    checkServiceName(name, call);
    return call;
  }

  /** A 404 of the services API also means that the scope is missing. */
  async #orAbsentService<T>(call: Call, result: Promise<T>): Promise<T | undefined> {
    try {
      return await result;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      if (grantOf("services", this.scopes) !== "none") return undefined;
      throw scopeMissing("services", "status 404", { what: whatOf(call), status: 404 });
    }
  }
}
