/**
 * Everything that a controller may look at, as data. `observe` reads it without
 * waiting, since all of it is in caches.
 *
 * @module
 */
import type { TailnetDevice } from "../core/device.ts";
import type { KubeObject, ResourceType } from "../core/object.ts";

/** The cached objects of the cluster. */
export interface ObjectReader {
  /** The object of that `namespace/name` (or `name`), if it is there. */
  get<T extends KubeObject>(type: ResourceType, key: string): T | undefined;
  /** All objects of the type, of one namespace if it is named. */
  list<T extends KubeObject>(type: ResourceType, namespace?: string): readonly T[];
  /** The objects whose index of that name holds that value. */
  byIndex<T extends KubeObject>(type: ResourceType, index: string, value: string): readonly T[];
}

/** What went wrong, in the words of a condition. */
export interface Failure {
  readonly reason: string;
  readonly message: string;
  /** Do not try again before this time. */
  readonly retryAt?: number;
}

/** What is known of one tailnet's API, by the name of its TailscaleTailnet. */
export interface TailnetState {
  /** Which credential and addresses it was opened with. */
  readonly fingerprint: string;
  readonly clientID: string;
  /** The outcome of the last check of the credential; absent before the first. */
  readonly check?:
    | {
      readonly at: number;
      readonly scopes: readonly string[];
      readonly missing: readonly string[];
    }
    | {
      readonly at: number;
      readonly failure: Failure;
      /** When the first of the failures in a row was. */
      readonly since?: number;
    };
  readonly devices: readonly TailnetDevice[];
  /** When the devices were last listed with success. */
  readonly fetchedAt?: number;
  /** When listing was last tried. */
  readonly triedAt?: number;
  /** The node ids that were looked for when the devices were last listed. */
  readonly soughtIds: ReadonlySet<string>;
}

/** What the extension server has seen since this process started. */
export interface HookFacts {
  /** The time of the last call of any hook. */
  readonly lastCallAt?: number;
  /** By `namespace/name` of the Gateway: the last translation that failed. */
  readonly failedAt: ReadonlyMap<string, number>;
  /** By `namespace/name` of the Gateway: the hash of what its last translation was given. */
  readonly servedHash: ReadonlyMap<string, string>;
}

/** What the hooks would render for one Gateway now. */
export interface RenderedGateway {
  readonly hash: string;
  /** When the hash became what it is. */
  readonly changedAt: number;
  /** When it first moved away from what the revision object says. */
  readonly dirtySince: number;
}

/** What this installation was told at its start. */
export interface Settings {
  /** The operator's own namespace. */
  readonly namespace: string;
  /** The proxies' image where an object names none. */
  readonly proxyImage: string;
}

/** The whole of it. */
export interface World {
  readonly objects: ObjectReader;
  readonly tailnets: ReadonlyMap<string, TailnetState>;
  readonly hooks: HookFacts;
  /** By `namespace/name` of the Gateway; absent before all that is rendered from is known. */
  readonly rendered?: ReadonlyMap<string, RenderedGateway>;
  readonly settings: Settings;
  /** The last failure of a controller's action for a key, until a run succeeds. */
  readonly failure: (controller: string, key: string) => Failure | undefined;
  /**
   * False while nothing is known yet of that tailnet: it was not tried since this
   * process began. What is said of it before would be unsaid a moment later.
   */
  readonly knowsTailnet: (name: string) => boolean;
  /** False while it is not known yet whether the Secret (`namespace/name`) is there. */
  readonly knowsSecret: (key: string) => boolean;
}
