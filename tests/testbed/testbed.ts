/**
 * A cluster of real parts for tests: control plane, pods, Envoy Gateway, a
 * tailnet. Runs inside the testbed's namespaces (`deno task e2e` makes them).
 */
import { join } from "node:path";
import { HOST_IP } from "./addresses.ts";
import { type CommandOptions, run } from "./command.ts";
import { startApiServer, startControlPlane } from "./control_plane.ts";
import { Daemons } from "./daemons.ts";
import { thaw } from "./frozen.ts";
import { type EnvoyGatewayOptions, gatewayClass, startEnvoyGateway } from "./gateway.ts";
import { assertInside } from "./netns.ts";
import { cacheDir, program } from "./paths.ts";
import { type ImageProgram, startPodlet, startServices } from "./services.ts";
import { Tailnet, type TailnetNode, type TailnetNodeOptions } from "./tailnet.ts";
import { waitFor, type WaitOptions } from "./wait.ts";

/**
 * `kube`: etcd, API server, controllers, with Gateway API's and Envoy Gateway's
 * CRDs. `pods`: kube, and what runs pods and makes Services reachable. `tailnet`:
 * control server, DERP, STUN.
 */
export type Part = "kube" | "pods" | "tailnet";

export interface TestbedOptions {
  /** Default: all. */
  readonly parts?: readonly Part[];
  /** Throws away what an earlier testbed left in the state folder. Default: true. */
  readonly freshState?: boolean;
  /** Default: `$TESTBED_STATE`, which `deno task e2e` sets for each test file. */
  readonly stateDir?: string;
  /** Programs for more container images; they win over the built-in ones. */
  readonly images?: readonly ImageProgram[];
  /** How long after a Secret's change a volume shows it, without an annotation. Default: 1000. */
  readonly volumeDelayMs?: number;
  /** Enforces NetworkPolicies; traffic of this machine is always allowed. Default: true. */
  readonly networkPolicies?: boolean;
}

/** A part is used that was not started. */
export class PartMissingError extends Error {
  override name = "PartMissingError";
}

/**
 * @example
 * ```ts ignore
 * await using bed = await Testbed.start({ parts: ["pods", "tailnet"] });
 * await bed.startEnvoyGateway({ infra: "kubernetes" });
 * const host = await bed.startTailnetNode({ name: "db", tags: ["tag:db"], text: "hello" });
 * await bed.apply(manifests(host.ip));
 * ```
 */
export class Testbed {
  /** This machine's address, as pods know it. */
  readonly hostIP = HOST_IP;
  readonly daemons: Daemons;
  readonly #tailnets: Tailnet[] = [];

  private constructor(private readonly options: TestbedOptions, readonly stateDir: string) {
    this.daemons = new Daemons(join(stateDir, "log"));
  }

  /** Starts the parts and returns when they answer. */
  static async start(options: TestbedOptions = {}): Promise<Testbed> {
    assertInside();
    const stateDir = options.stateDir ?? Deno.env.get("TESTBED_STATE") ?? join(cacheDir(), "state");
    if (options.freshState ?? true) {
      await Deno.remove(stateDir, { recursive: true }).catch(() => {});
    }
    const bed = new Testbed(options, stateDir);
    try {
      await bed.#startParts(new Set(options.parts ?? ["kube", "pods", "tailnet"]));
    } catch (error) {
      await bed.stop();
      throw error;
    }
    return bed;
  }

  async #startParts(parts: ReadonlySet<Part>): Promise<void> {
    const tailnet = parts.has("tailnet") ? this.startTailnet() : undefined;
    if (parts.has("kube") || parts.has("pods")) await this.#startKube();
    if (parts.has("pods")) {
      // kube-proxy is ready only once podlet has made the node.
      await Promise.all([startServices(this.#node), startPodlet(this.#node)]);
    }
    await tailnet;
  }

  async #startKube(): Promise<void> {
    const fresh = await Deno.stat(join(this.stateDir, "kube")).then(() => false, () => true);
    if (fresh) await thaw(this.stateDir);
    await startControlPlane({ daemons: this.daemons, stateDir: this.stateDir });
  }

  get #node() {
    const { images = [], volumeDelayMs = 1000, networkPolicies = true } = this.options;
    const { daemons, stateDir, kubeconfig } = this;
    return { daemons, stateDir, kubeconfig, images, volumeDelayMs, networkPolicies };
  }

  /** Path of a kubeconfig with all rights; it works in pods too. */
  get kubeconfig(): string {
    return join(this.stateDir, "kube", "admin.kubeconfig");
  }

  /** Runs kubectl; throws `CommandError` when it fails. */
  kubectl(...args: string[]): Promise<string> {
    return run([program("kubectl"), "--kubeconfig", this.kubeconfig, ...args]);
  }

  /** Applies manifests (server-side), given as YAML or as objects. */
  async apply(manifests: string | readonly object[]): Promise<void> {
    const text = typeof manifests === "string"
      ? manifests
      : JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests });
    await run([
      ...[program("kubectl"), "--kubeconfig", this.kubeconfig],
      ..."apply --server-side --force-conflicts -f -".split(" "),
    ], { stdin: text });
  }

  /** One object, or undefined. `type` is as kubectl takes it, such as `pods` or `gateways.gateway.networking.k8s.io`. */
  // deno-lint-ignore no-explicit-any
  async get(type: string, name: string, namespace?: string): Promise<any> {
    const where = namespace === undefined ? [] : ["-n", namespace];
    const text = await this.kubectl(
      "get",
      type,
      name,
      ...where,
      "--ignore-not-found",
      "-o",
      "json",
    );
    return text.trim() === "" ? undefined : JSON.parse(text);
  }

  // deno-lint-ignore no-explicit-any
  async list(type: string, namespace?: string, selector?: string): Promise<any[]> {
    const where = namespace === undefined ? ["-A"] : ["-n", namespace];
    const which = selector === undefined ? [] : ["-l", selector];
    return JSON.parse(await this.kubectl("get", type, ...where, ...which, "-o", "json")).items;
  }

  /** Waits for a state; fails at once when a part of the testbed died. */
  waitFor<T>(what: string, probe: () => T | Promise<T>, options: WaitOptions = {}) {
    return waitFor(what, probe, { guard: () => this.daemons.check(), ...options });
  }

  /** Waits for a pod's readiness. */
  async podReady(name: string, namespace: string, timeoutMs = 60_000): Promise<void> {
    await this.waitFor(`pod ${namespace}/${name} ready`, async () => {
      const pod = await this.get("pod", name, namespace);
      const conditions: { type: string; status: string }[] = pod?.status?.conditions ?? [];
      return conditions.some((each) => each.type === "Ready" && each.status === "True");
    }, { timeoutMs });
  }

  /** What a container wrote, over all its restarts. */
  podLog(pod: string, namespace: string, container: string): Promise<string> {
    const file = join(this.stateDir, "pods", "logs", `${namespace}_${pod}_${container}.log`);
    return Deno.readTextFile(file);
  }

  /** Starts Envoy Gateway, and makes the GatewayClass `eg`. */
  async startEnvoyGateway(options: EnvoyGatewayOptions = {}): Promise<void> {
    await startEnvoyGateway(this, options);
    await this.apply(gatewayClass(options.infra ?? "kubernetes"));
  }

  /** Starts a tailnet more; the first comes with the part `tailnet`. */
  async startTailnet(domain?: string): Promise<Tailnet> {
    const index = this.#tailnets.length;
    const tailnet = await Tailnet.start({
      daemons: this.daemons,
      stateDir: this.stateDir,
      index,
      ...(domain === undefined ? {} : { domain }),
    });
    this.#tailnets.push(tailnet);
    return tailnet;
  }

  /** The first tailnet. Its `controlURL` is what proxies log in at, its `backend` what the API serves. */
  get tailnet(): Tailnet {
    const tailnet = this.#tailnets[0];
    if (!tailnet) throw new PartMissingError("start the testbed with the part `tailnet`");
    return tailnet;
  }

  /** A real host in the first tailnet, with an HTTP server. */
  startTailnetNode(options: TailnetNodeOptions): Promise<TailnetNode> {
    return this.tailnet.startNode(options);
  }

  /** Runs a command (as everything here, inside the namespaces). */
  exec(command: readonly string[], options: CommandOptions = {}): Promise<string> {
    return run(command, { ...options, env: { KUBECONFIG: this.kubeconfig, ...options.env } });
  }

  /** Kills the API server, as an outage does; `startApiServer` ends the outage. */
  async stopApiServer(): Promise<void> {
    await this.daemons.get("kube-apiserver")?.stop(0);
  }

  async startApiServer(): Promise<void> {
    const daemon = startApiServer({ daemons: this.daemons, stateDir: this.stateDir });
    await daemon.ready(() => this.kubectl("get", "--raw", "/readyz"), { timeoutMs: 60_000 });
  }

  /** Stops everything that it started. */
  async stop(): Promise<void> {
    for (const tailnet of this.#tailnets) await tailnet.close();
    await this.daemons.stopAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
