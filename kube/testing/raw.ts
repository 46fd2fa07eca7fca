/**
 * A server of this folder's tests that misbehaves below HTTP.
 *
 * @module
 */
import { KubeClient } from "../client.ts";
import { createTransport, type Transport, type TransportOptions } from "../transport.ts";

/** The bytes that a request is answered with, and whether silence or the end follows. */
export interface RawAnswer {
  readonly send: string;
  readonly then: "hang" | "close";
}

/** No answer at all. */
export const HANG: RawAnswer = { send: "", then: "hang" };

/** An HTTP server that can misbehave as a whole HTTP library never would. */
export class RawServer implements AsyncDisposable {
  readonly heads: string[] = [];
  readonly url: string;
  readonly client: KubeClient;
  readonly transport: Transport;
  readonly #listener: Deno.TcpListener;
  readonly #open = new Set<Deno.Conn>();
  readonly #tasks: Promise<void>[] = [];

  constructor(answer: (head: string) => RawAnswer, options: TransportOptions = {}) {
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.url = `http://127.0.0.1:${this.#listener.addr.port}`;
    this.transport = createTransport({ server: this.url, caCerts: [] }, options);
    this.client = new KubeClient(this.transport);
    this.#tasks.push(this.#accept(answer));
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#open.size;
  }

  async #accept(answer: (head: string) => RawAnswer): Promise<void> {
    for await (const conn of this.#listener) this.#tasks.push(this.#serve(conn, answer));
  }

  async #serve(conn: Deno.Conn, answer: (head: string) => RawAnswer): Promise<void> {
    this.#open.add(conn);
    const buffer = new Uint8Array(65_536);
    try {
      const n = await conn.read(buffer);
      const head = new TextDecoder().decode(buffer.subarray(0, n ?? 0));
      this.heads.push(head.split("\r\n")[0]!);
      const { send, then } = answer(head);
      if (send !== "") await conn.write(new TextEncoder().encode(send));
      if (then === "hang") await clientLeft(conn);
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted)) {
        if (!(error instanceof Deno.errors.ConnectionReset)) throw error;
      }
    } finally {
      this.#close(conn);
    }
  }

  #close(conn: Deno.Conn): void {
    if (this.#open.delete(conn)) conn.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.transport.close();
    this.#listener.close();
    for (const conn of this.#open) this.#close(conn);
    await Promise.all(this.#tasks);
  }
}

async function clientLeft(conn: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(1024);
  while (await conn.read(buffer) !== null);
}

/** A whole answer. */
export function rawJson(value: unknown): RawAnswer {
  const body = JSON.stringify(value);
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
  return { send: `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`, then: "close" };
}

/** The start of a chunked answer, and what follows it. */
export function rawChunk(chunk: string, then: RawAnswer["then"]): RawAnswer {
  const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked";
  return { send: `${head}\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n`, then };
}
