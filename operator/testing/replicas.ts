/**
 * Several operators on one cluster and tailnet, and what stands in front of them.
 *
 * @module
 */
import type { KubeClient } from "../../kube/client.ts";
import { KubeClient as Client } from "../../kube/client.ts";
import { handlerTransport } from "../../kube/transport.ts";
import type { Operator } from "../operator.ts";
import { TestEnvoyGateway } from "./envoy.ts";
import type { TestWorld } from "./world.ts";

/** One of the operators. */
export class Replica {
  readonly operator: Operator;
  /** What it wrote to the cluster, but for its Lease. */
  readonly writes: string[] = [];
  /** What it asked Tailscale's API for. */
  readonly tailscaleCalls: string[] = [];
  /** Nothing that it sends arrives any more. */
  cutOff = false;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(readonly world: TestWorld, readonly name: string) {
    this.operator = world.create({
      client: this.#client(),
      fetch: (input, init) => this.#fetch(input, init),
      instance: name,
      election: {
        namespace: "tailscale",
        name: "tailscale-gateway",
        identity: name,
        monotonic: () => world.clock.now(),
      },
    });
    this.#ended = this.operator.run(this.#stop.signal);
  }

  /** The port of its hooks, once they are served. */
  async port(): Promise<number> {
    return await this.world.until(
      `${this.name} serves hooks`,
      () => this.operator.listening?.grpcPort,
    );
  }

  /** What its hooks answer for the clusters, in bytes. */
  async answer(request: Uint8Array): Promise<Uint8Array> {
    const port = await this.port();
    const gateway = new TestEnvoyGateway(port);
    try {
      return await gateway.call(request);
    } finally {
      gateway.close();
    }
  }

  /** As SIGTERM does. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  #client(): KubeClient {
    const { clock, api } = this.world;
    const transport = handlerTransport((request) => {
      if (this.cutOff) return Promise.reject(new TypeError("connection reset"));
      const { pathname } = new URL(request.url);
      if (request.method !== "GET" && !pathname.includes("/leases")) {
        this.writes.push(`${request.method} ${pathname}`);
      }
      return api.handle(request);
    }, { clock });
    return new Client(transport, { clock });
  }

  #fetch(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    if (this.cutOff) return Promise.reject(new TypeError("connection reset"));
    this.tailscaleCalls.push(`${init?.method ?? "GET"} ${input}`);
    return this.world.tailscale.fetch(input, init);
  }
}

/**
 * Plays a Service: sends each new connection to some replica that is ready. As with a
 * real one, it is a while until it hears that a replica is not ready any more.
 */
export class TestService {
  readonly #listener: Deno.TcpListener;
  readonly #connections = new Set<Promise<unknown>>();
  readonly #serving: Promise<void>;
  ports: number[] = [];
  #next = 0;

  constructor(port = 0) {
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port });
    this.#serving = this.#serve();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  async close(): Promise<void> {
    this.#listener.close();
    await this.#serving;
    await Promise.all(this.#connections);
  }

  async #serve(): Promise<void> {
    for await (const connection of this.#listener) {
      const piped = this.#pipe(connection).finally(() => this.#connections.delete(piped));
      this.#connections.add(piped);
    }
  }

  async #pipe(client: Deno.TcpConn): Promise<void> {
    const port = this.ports[this.#next++ % this.ports.length] ?? 1;
    try {
      const server = await Deno.connect({ hostname: "127.0.0.1", port });
      await Promise.allSettled([
        client.readable.pipeTo(server.writable),
        server.readable.pipeTo(client.writable),
      ]);
    } catch {
      client.close(); // refused: the client sees the connection end
    }
  }
}
