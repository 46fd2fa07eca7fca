/**
 * Kubernetes `Status` objects and error answers as {@linkcode KubeApiError}.
 *
 * @module
 */
import { KubeApiError, type KubeApiErrorInit, parseRetryAfter } from "./errors.ts";

/** The parts of a `Status` that say what went wrong; `{}` for anything else. */
export function parseStatus(value: unknown): Partial<KubeApiErrorInit> {
  if (typeof value !== "object" || value === null) return {};
  const { code, reason, message, details } = value as Record<string, unknown>;
  const { retryAfterSeconds, causes } = (details ?? {}) as Record<string, unknown>;
  return {
    ...(typeof code === "number" ? { status: code } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(typeof retryAfterSeconds === "number" ? { retryAfterMs: retryAfterSeconds * 1000 } : {}),
    ...(Array.isArray(causes) ? { causes: causes.map((c) => String(c?.reason ?? "")) } : {}),
  };
}

/** The error that an answer of status 300 or more stands for. */
export async function errorFrom(
  response: Response,
  what: string,
  now: number,
): Promise<KubeApiError> {
  const text = await response.text();
  const fallback = text.trim().slice(0, 200) || response.statusText || "no message";
  const init: KubeApiErrorInit = {
    message: fallback,
    ...parseStatus(tryJson(text)),
    what,
    status: response.status,
  };
  const wait = parseRetryAfter(response.headers.get("retry-after"), now);
  return new KubeApiError(wait === undefined ? init : { ...init, retryAfterMs: wait });
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // an error page of a proxy in between: its text is the message
  }
}
