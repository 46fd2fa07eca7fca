/**
 * Faults on request, for tests of clients.
 *
 * @module
 */

/** An answer in place of the real one. */
export interface FaultResponse {
  readonly status: number;
  /** Sent as JSON unless it is text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What goes wrong, and with which requests. */
export interface Fault {
  /** @default every request */
  readonly match?: (request: Request) => boolean;
  /** With how many of the matching requests; `Infinity` for all. @default 1 */
  readonly times?: number;
  /**
   * `reset`: the connection breaks (in process: the call rejects with a TypeError).
   * `hang`: no answer until the client gives up or the server shuts down.
   */
  readonly response: FaultResponse | "reset" | "hang";
}

/** The connection of this request is to break. */
export class ConnectionReset extends TypeError {
  override readonly name = "ConnectionReset";
}

/** Holds the faults that wait for their requests. */
export class Faults {
  #waiting: { fault: Fault; left: number }[] = [];
  readonly #hanging = new Set<() => void>();

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  /** Forgets faults that wait, and breaks requests that hang. */
  clear(): void {
    this.#waiting = [];
    for (const release of this.#hanging) release();
  }

  /** The response that a fault wants in place of the real one. */
  async take(request: Request, signal: AbortSignal): Promise<Response | undefined> {
    const found = this.#waiting.find(({ fault }) => fault.match?.(request) ?? true);
    if (!found) return undefined;
    found.left--;
    if (found.left <= 0) this.#waiting = this.#waiting.filter((entry) => entry !== found);
    const { response } = found.fault;
    if (response === "hang") await this.#hang(signal);
    if (response === "hang" || response === "reset") {
      throw new ConnectionReset("connection reset by a fault that a test asked for");
    }
    const text = typeof response.body === "string"
      ? response.body
      : JSON.stringify(response.body ?? {});
    return new Response(text, {
      status: response.status,
      headers: { "content-type": "application/json", ...response.headers },
    });
  }

  #hang(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#hanging.delete(release);
        reject(signal.reason);
      };
      const release = () => {
        this.#hanging.delete(release);
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      this.#hanging.add(release);
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }
}
