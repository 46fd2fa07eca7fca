/**
 * Traces, through the OpenTelemetry that Deno brings (`OTEL_DENO=true`). Deno
 * itself makes the spans of HTTP requests, as children of those made here; without
 * it all of this does nothing.
 *
 * @module
 */
import { type Attributes, context, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { redactText } from "../core/secret.ts";

/** What a span says of itself. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** A span that has ended when it is told of. */
export interface FinishedSpan {
  readonly name: string;
  readonly durationMs: number;
  readonly attributes?: SpanAttributes;
  readonly error?: unknown;
}

/** A span that goes on. */
export interface OpenSpan {
  /** Adds attributes. */
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. */
  fail(error: unknown): void;
}

// Asked for anew each time: the one of a moment before Deno's is registered does nothing for good.
const tracer = () => trace.getTracer("tailscale-gateway");

/**
 * Runs `work` in a span: what it asks over HTTP, and the spans that it makes, are the
 * span's children. An error marks the span, and is thrown on.
 */
export async function traced<T>(
  name: string,
  attributes: SpanAttributes,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  const span = tracer().startSpan(name);
  if (!span.isRecording()) return await work(SILENT);
  span.setAttributes(redacted(attributes));
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(opened(span)));
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Records what is over. */
export function recordSpan({ name, durationMs, attributes = {}, error }: FinishedSpan): void {
  const endTime = Date.now();
  const startTime = endTime - durationMs;
  const span = tracer().startSpan(name, { startTime });
  if (!span.isRecording()) return;
  span.setAttributes(redacted(attributes));
  if (error !== undefined) fail(span, error);
  span.end(endTime);
}

const SILENT: OpenSpan = { set() {}, fail() {} };

function opened(span: Span): OpenSpan {
  return {
    set: (attributes) => void span.setAttributes(redacted(attributes)),
    fail: (error) => fail(span, error),
  };
}

/** The message alone: an error's stack and causes may hold what was sent. */
function fail(span: Span, error: unknown): void {
  const message = redactText(error instanceof Error ? error.message : String(error));
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function redacted(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map((
      [name, value],
    ) => [name, typeof value === "string" ? redactText(value) : value]),
  );
}
