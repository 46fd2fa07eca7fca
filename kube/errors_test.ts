import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import {
  isAlreadyExists,
  isConflict,
  isGone,
  isNotFound,
  KubeApiError,
  KubeConnectionError,
  parseRetryAfter,
  retryAfterOf,
} from "./errors.ts";

const error = (status: number, reason = "") =>
  new KubeApiError({ status, reason, message: "no", what: "GET /api/v1/pods" });

Deno.test("KubeApiError says what was asked and what the server answered", () => {
  assertEquals(error(404, "NotFound").message, "GET /api/v1/pods: 404 NotFound: no");
  assertEquals(error(502).message, "GET /api/v1/pods: 502: no");
});

Deno.test("KubeConnectionError keeps its cause", () => {
  const cause = new Error("refused");
  const wrapped = new KubeConnectionError("GET /version", "no answer", { cause });
  assertEquals(wrapped.cause, cause);
  assertStringIncludes(wrapped.message, "GET /version");
});

Deno.test("predicates tell the errors apart that callers decide on", () => {
  assert(isNotFound(error(404)));
  assert(isConflict(error(409, "Conflict")));
  assertFalse(isConflict(error(409, "AlreadyExists")));
  assert(isAlreadyExists(error(409, "AlreadyExists")));
  assert(isGone(error(410)));
  assert(isGone(error(500, "Expired")));
  assertFalse(isGone(new Error("410")));
});

Deno.test("parseRetryAfter() reads seconds and HTTP dates, and passes over nonsense", () => {
  const now = Date.parse("2026-11-27T10:00:00Z");
  assertEquals(parseRetryAfter("37", now), 37_000);
  assertEquals(parseRetryAfter(" 0 ", now), 0);
  assertEquals(parseRetryAfter("Fri, 27 Nov 2026 10:00:30 GMT", now), 30_000);
  assertEquals(parseRetryAfter("Fri, 27 Nov 2026 09:00:00 GMT", now), 0);
  assertEquals(parseRetryAfter("soon", now), undefined);
  assertEquals(parseRetryAfter(null, now), undefined);
});

Deno.test("retryAfterOf() is 0 for errors without a wish", () => {
  assertEquals(retryAfterOf(error(429)), 0);
  assertEquals(retryAfterOf(new Error("x")), 0);
});
