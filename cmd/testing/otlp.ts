/** A collector of OpenTelemetry, in process. */

/** A span as it came. */
export interface ReceivedSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** What went wrong; absent when nothing did. */
  readonly error?: string;
}

interface OtlpSpan {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes?: readonly { key: string; value: Record<string, unknown> }[];
  readonly status?: { code?: number; message?: string };
}

interface OtlpTraces {
  readonly resourceSpans?: readonly { scopeSpans?: readonly { spans?: readonly OtlpSpan[] }[] }[];
}

const PATIENCE_MS = 15_000;

/** Takes OTLP over HTTP as JSON. */
export class OtlpCollector implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  /** All bodies, whatever they tell. */
  readonly bodies: string[] = [];
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #waiting = new Set<() => void>();

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      async (request) => {
        const body = await request.text();
        this.bodies.push(body);
        if (new URL(request.url).pathname === "/v1/traces") this.#take(JSON.parse(body));
        for (const wake of this.#waiting) wake();
        return Response.json({});
      },
    );
  }

  /** What makes Deno send everything here, soon. */
  get env(): Record<string, string> {
    return {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#server.addr.port}`,
      OTEL_BSP_SCHEDULE_DELAY: "50",
    };
  }

  /** Waits for a span; throws when it does not come. */
  async span(what: string, wanted: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    let late = false;
    const { promise: lateness, resolve: giveUp } = Promise.withResolvers<void>();
    const timer = setTimeout(() => giveUp(void (late = true)), PATIENCE_MS);
    try {
      for (;;) {
        const found = this.spans.find(wanted);
        if (found) return found;
        if (late) throw new Error(`no span: ${what}\n${this.#report()}`);
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#waiting.add(resolve);
        await Promise.race([promise, lateness]);
        this.#waiting.delete(resolve);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #report(): string {
    const line = ({ name, attributes }: ReceivedSpan) => `${name} ${JSON.stringify(attributes)}`;
    return this.spans.map(line).join("\n");
  }

  /** The spans that a span lies in, the nearest first, as far as they have come. */
  above({ parentSpanId }: ReceivedSpan): ReceivedSpan[] {
    const parent = this.spans.find(({ spanId }) => spanId === parentSpanId);
    return parent ? [parent, ...this.above(parent)] : [];
  }

  #take({ resourceSpans = [] }: OtlpTraces): void {
    const spans = resourceSpans.flatMap(({ scopeSpans = [] }) => scopeSpans)
      .flatMap(({ spans = [] }) => spans);
    for (const { name, spanId, parentSpanId = "", attributes = [], status } of spans) {
      this.spans.push({
        name,
        spanId,
        parentSpanId,
        attributes: Object.fromEntries(
          attributes.map(({ key, value }) => [key, Object.values(value)[0]]),
        ),
        ...(status?.code === 2 ? { error: status.message ?? "" } : {}),
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}
