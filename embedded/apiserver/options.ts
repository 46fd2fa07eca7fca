/**
 * What the server is made from, and what it tells.
 *
 * @module
 */
import type { Clock } from "../../core/clock.ts";
import type { KubeObject, ResourceType } from "../../core/object.ts";
import type { ServedType } from "./types.ts";

/** How an `EmbeddedApiServer` is made. */
export interface EmbeddedApiServerOptions {
  /** @default the machine's */
  readonly clock?: Clock;
  /** Kinds beside the built-in ones, or in their place. */
  readonly types?: readonly (ResourceType | ServedType)[];
  /** What is wrong with an object, each `<field>: <message>`; answered as 422. */
  readonly validate?: (object: KubeObject) => readonly string[];
  /** An object of a kind that is not built in, with the defaults of its schema. */
  readonly defaults?: (object: KubeObject) => KubeObject;
  /** How many changes watches can resume from. @default 10000 */
  readonly historyLimit?: number;
}

/** A request that the server saw. */
export interface RequestRecord {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** 0 when the connection was made to break. */
  readonly status: number;
  /** When it came, in milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A server that listens. */
export interface ListeningServer {
  readonly url: string;
  shutdown(): Promise<void>;
}
