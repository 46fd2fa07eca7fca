/**
 * Watches of single Secrets that objects name: the operator reads no Secret of
 * others that nobody named.
 *
 * @module
 */
import type { Clock } from "../core/clock.ts";
import { type KubeObject, splitKey } from "../core/object.ts";
import { SECRET } from "../api/resources.ts";
import type { KubeClient } from "../kube/client.ts";
import { Reflector } from "../kube/reflector.ts";
import { type Change, Store } from "../kube/store.ts";
import type { Log } from "../telemetry/log.ts";
import { trimmer } from "./trim.ts";

interface Watch {
  readonly reflector: Reflector<KubeObject>;
  readonly store: Store<KubeObject>;
  readonly stop: AbortController;
}

/** Options of {@linkcode SecretWatches}. */
export interface SecretWatchesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => number;
  readonly onChange: (change: Change<KubeObject>) => void;
  /** Called when it is known whether a newly named Secret is there. */
  readonly onKnown: (key: string) => void;
}

/** A watch for each Secret that is named. */
export class SecretWatches {
  readonly #options: SecretWatchesOptions;
  readonly #watches = new Map<string, Watch>();
  /** All that run, also those that are about to end. */
  readonly #running = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(options: SecretWatchesOptions) {
    this.#options = options;
  }

  /** The Secret, if it is named and there. */
  get(key: string): KubeObject | undefined {
    return this.#watches.get(key)?.store.get(key);
  }

  /** Is it known whether the Secret is there? */
  knows(key: string): boolean {
    return this.#watches.get(key)?.reflector.hasSynced ?? false;
  }

  /** Watches exactly these Secrets (`namespace/name`) from now on. */
  follow(keys: ReadonlySet<string>): void {
    for (const [key, watch] of this.#watches) {
      if (keys.has(key)) continue;
      watch.stop.abort();
      this.#watches.delete(key);
    }
    for (const key of keys) if (!this.#watches.has(key)) this.#start(key);
  }

  /** Keeps the watches going until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    await new Promise<void>((resolve) => {
      if (signal.aborted) return resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    for (const { stop } of this.#watches.values()) stop.abort();
    await Promise.all(this.#running);
  }

  #start(key: string): void {
    if (this.#signal?.aborted) return;
    const { client, clock, log, random, onChange } = this.#options;
    const { namespace, name } = splitKey(key);
    const store = new Store<KubeObject>();
    const stop = new AbortController();
    const reflector = new Reflector<KubeObject>({
      client,
      type: SECRET,
      store,
      clock,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      trim: trimmer(SECRET),
      log: log.named("watch"),
      onChange,
      ...(random ? { random } : {}),
    });
    this.#watches.set(key, { reflector, store, stop });
    const ended = reflector.run(stop.signal).finally(() => this.#running.delete(ended));
    this.#running.add(ended);
    reflector.synced.then(() => this.#options.onKnown(key));
  }
}
