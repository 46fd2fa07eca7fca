/** A Kubernetes API and a Tailscale API on loopback, for the program as a process. */
import { EmbeddedApiServer, type ListeningServer } from "../../embedded/apiserver/mod.ts";
import { MemoryTailnet, type OAuthClient, TailscaleApiServer } from "../../embedded/tailnet/mod.ts";
import type { KubeObject } from "../../core/object.ts";
import { KubeClient } from "../../kube/client.ts";
import { handlerTransport } from "../../kube/transport.ts";
import { admitted, errorsOf, typeOf } from "../../operator/testing/admission.ts";
import { systemClock } from "../../telemetry/clock.ts";
import { freePort, RunningProgram } from "./program.ts";

const PATIENCE_MS = 30_000;

/** Both APIs, and a kubeconfig that leads to the first. */
export class LocalApis implements AsyncDisposable {
  readonly api = new EmbeddedApiServer({ validate: errorsOf, defaults: admitted });
  readonly client = new KubeClient(handlerTransport((request) => this.api.handle(request)));
  readonly tailnet = new MemoryTailnet({ clock: systemClock });
  readonly tailscale: TailscaleApiServer;
  readonly kubeconfig = Deno.makeTempFileSync({ suffix: ".json" });
  readonly #served: ListeningServer;
  readonly #tailscaleServed: ListeningServer;

  /** @param token what the kubeconfig authenticates with. */
  constructor(client: OAuthClient, token: string) {
    const { tailnet: backend } = this;
    this.tailscale = new TailscaleApiServer({ backend, clock: systemClock, clients: [client] });
    this.#served = this.api.serve();
    this.#tailscaleServed = this.tailscale.serve();
    const config = {
      clusters: [{ name: "c", cluster: { server: this.#served.url } }],
      users: [{ name: "u", user: { token } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    Deno.writeTextFileSync(this.kubeconfig, JSON.stringify(config));
  }

  /** Where the Tailscale API is. */
  get tailscaleURL(): string {
    return this.#tailscaleServed.url;
  }

  async apply(...objects: readonly KubeObject[]): Promise<void> {
    for (const object of objects) {
      await this.client.apply(typeOf(object), object, { fieldManager: "kubectl", force: true });
    }
  }

  /** Starts `run` on them; `grpc` is the hooks' port and `http` that of metrics. */
  run(env: Record<string, string> = {}): { program: RunningProgram; grpc: number; http: number } {
    const [grpc, http] = [freePort(), freePort()];
    const program = new RunningProgram([
      "run",
      `--kubeconfig=${this.kubeconfig}`,
      `--extension-address=127.0.0.1:${grpc}`,
      `--http-address=127.0.0.1:${http}`,
      "--log-level=debug",
    ], { env });
    return { program, grpc, http };
  }

  /** Waits until something is so. */
  async until(what: string, look: () => unknown): Promise<void> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    while (!look()) {
      if (Date.now() > giveUpAt) throw new Error(`never: ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served.shutdown();
    await this.#tailscaleServed.shutdown();
    await Deno.remove(this.kubeconfig);
  }
}
