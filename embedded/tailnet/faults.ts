/**
 * What goes wrong on purpose.
 *
 * @module
 */

/** Answers a request in place of the API. */
export interface AnswerFault {
  readonly status: number;
  /** @default a JSON error */
  readonly body?: string;
  /** The `Retry-After` header: seconds, or an HTTP date. */
  readonly retryAfter?: string | number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Lets the API answer, and spoils the answer. */
export interface SpoilFault {
  /**
   * - `hang`: no answer until the client gives up;
   * - `half-body`: the connection breaks in the midst of the body;
   * - `half-json`: the body ends too early, but in good order.
   */
  readonly mode: "hang" | "half-body" | "half-json";
}

/** A fault, and the requests that it meets. */
export type Fault = (AnswerFault | SpoilFault) & {
  readonly method?: string;
  /** Tried on path and query. @default every path */
  readonly path?: RegExp;
  /** @default 1 */
  readonly times?: number;
};

/** Faults that wait for their request, the first that fits first. */
export class FaultQueue {
  #waiting: { fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.times ?? 1 });
  }

  clear(): void {
    this.#waiting = [];
  }

  /** Takes the fault for a request, if there is one. */
  take(method: string, path: string): Fault | undefined {
    const entry = this.#waiting.find(({ fault }) =>
      (fault.method === undefined || fault.method === method) && (fault.path?.test(path) ?? true)
    );
    if (!entry) return undefined;
    if (--entry.left <= 0) this.#waiting = this.#waiting.filter((other) => other !== entry);
    return entry.fault;
  }
}

/** The answer of an {@linkcode AnswerFault}. */
export function answerOf(fault: AnswerFault): Response {
  const headers = new Headers({ "content-type": "application/json", ...fault.headers });
  if (fault.retryAfter !== undefined) headers.set("retry-after", String(fault.retryAfter));
  const body = fault.body ?? JSON.stringify({ message: "injected fault" });
  return new Response(body, { status: fault.status, headers });
}

/** The first half of an answer, ended in order or by a broken connection. */
export async function halfOf(response: Response, mode: "half-body" | "half-json") {
  const text = await response.text();
  const half = new TextEncoder().encode(text.slice(0, Math.floor(text.length / 2)));
  const { status, headers } = response;
  if (mode === "half-json") return new Response(half, { status, headers });
  let sent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      // A text: Deno prints the stack of an Error that ends a body.
      if (sent) return controller.error("injected fault: the connection breaks");
      sent = true;
      controller.enqueue(half);
    },
  });
  return new Response(body, { status, headers });
}
