/**
 * What a controller is: an observation of the world, and a pure plan made of it.
 *
 * @module
 */
import type { KubeObject, ResourceType } from "../core/object.ts";
import type { Secret } from "../core/secret.ts";
import type { World } from "./world.ts";

/** Something to do, as data. Actions of a plan run in order; a failed one ends the run. */
export type Action =
  /** Server-side apply under the controller's field manager. */
  | { readonly do: "apply"; readonly type: ResourceType; readonly object: KubeObject }
  /** Deletes that very object (by uid); one that is gone is a success. */
  | {
    readonly do: "delete";
    readonly type: ResourceType;
    readonly object: KubeObject;
    readonly propagation?: "Foreground" | "Background";
  }
  /** Mints an auth key and stores it before anything can use it. */
  | {
    readonly do: "mintAuthKey";
    readonly tailnet: string;
    readonly tags: readonly string[];
    readonly ephemeral: boolean;
    readonly description: string;
    readonly type: ResourceType;
    /** The object that holds the key. */
    readonly store: (key: MintedKey) => KubeObject;
  }
  | { readonly do: "revokeAuthKey"; readonly tailnet: string; readonly id: string }
  /**
   * Removes a replica's device. Its id is what somebody wrote into a Secret or a
   * status, so nothing is removed that does not bear one of the replica's names, or
   * that another object's replica is.
   */
  | {
    readonly do: "deleteDevice";
    readonly tailnet: string;
    readonly nodeId: string;
    /** The names that the replica asks for in the tailnet. */
    readonly hostnames: readonly string[];
    /** Whose replica it is. */
    readonly owner: KubeObject;
  }
  /** Opens the tailnet's API with that credential and checks it. */
  | { readonly do: "openTailnet"; readonly tailnet: string; readonly connection: TailnetConnection }
  | { readonly do: "closeTailnet"; readonly tailnet: string }
  /** Lists the tailnet's devices. */
  | { readonly do: "listDevices"; readonly tailnet: string; readonly sought: readonly string[] }
  | {
    readonly do: "event";
    readonly regarding: KubeObject;
    readonly type: "Normal" | "Warning";
    readonly reason: string;
    readonly note: string;
  };

/** A key as Tailscale made it. */
export interface MintedKey {
  readonly id: string;
  readonly key: Secret;
  /** RFC 3339. */
  readonly expires: string;
}

/** How to reach a tailnet's API. */
export interface TailnetConnection {
  readonly fingerprint: string;
  readonly apiURL: string;
  readonly organization: string;
  readonly clientID: string;
  /** That we are this client: its secret, or a token of our own account for an audience. */
  readonly proof: { readonly clientSecret: Secret } | { readonly audience: string };
}

/** What is to be done, what to say, and when to look again. */
export interface Plan {
  readonly actions: readonly Action[];
  /** The whole status of the object; absent: it is left as it is. */
  readonly status?: unknown;
  /** Milliseconds since the epoch. Changes of what was observed wake the controller anyway. */
  readonly wakeAt?: number;
}

/** A plan that does nothing. */
export const IDLE: Plan = { actions: [] };

/** Which keys of a controller an object of another type concerns. */
export interface Mapping {
  readonly type: ResourceType;
  readonly keys: (object: KubeObject, world: World) => readonly string[];
}

/** A controller whose observation is an `O`. */
export interface Controller<O = unknown> {
  /** Its name in logs and metrics, and its field manager after `tailscale-gateway-`. */
  readonly name: string;
  /** What its keys name. */
  readonly type: ResourceType;
  readonly mappings: readonly Mapping[];
  /** What it applies and deletes. It reads only those that carry the operator's label. */
  readonly makes: readonly ResourceType[];
  /** What others make for it and it only patches; read by that label too. */
  readonly patches?: readonly ResourceType[];
  /** True where of its own objects it writes nothing but the status: no finalizer. */
  readonly onlyStatus?: boolean;
  /** Keys that a change of a tailnet's state concerns. */
  readonly keysOfTailnet?: (tailnet: string, world: World) => readonly string[];
  /** True where every change of what hooks render, or have seen, concerns all its keys. */
  readonly followsHooks?: boolean;
  /** Undefined when there is nothing to do for the key. */
  readonly observe: (world: World, key: string) => O | undefined;
  readonly plan: (observed: O, now: number) => Plan;
  /** Fields of its status that count only together with another change. */
  readonly volatileStatus?: readonly string[];
}

/** Lets the types of observation and plan meet, and then forgets them. */
export function defineController<O>(controller: Controller<O>): Controller {
  return controller as unknown as Controller;
}

/** What the names of our field managers begin with. */
export const FIELD_MANAGER_PREFIX = "tailscale-gateway-";

/** The field manager of a controller. */
export function fieldManagerOf(controller: Pick<Controller, "name">): string {
  return FIELD_MANAGER_PREFIX + controller.name;
}
