import { assertEquals, assertThrows } from "@std/assert";
import { KubeApiError, KubeConnectionError } from "../kube/errors.ts";
import {
  CredentialsInvalid,
  InvalidRequest,
  NotFound,
  RateLimited,
  ScopeMissing,
  TagsNotPermitted,
  Unavailable,
} from "../tailscale/errors.ts";
import { checkFailureOf, failureOf, ForeignObjectError, TailnetClosedError } from "./failures.ts";

const NOW = 1_000_000;
const what = "POST /keys";
const first = { now: NOW, tries: 1, random: 1 };

function kube(status: number, retryAfterMs?: number) {
  return new KubeApiError({ status, message: "no", what: "PATCH /x", retryAfterMs });
}

Deno.test("failureOf() says what is wrong, and when to try again", () => {
  const cases: [Error, string, number][] = [
    [new TagsNotPermitted({ requested: ["tag:a"] }, "no", { what }), "TagsNotPermitted", 60_000],
    [new ForeignObjectError("Service a/b"), "Conflicted", 60_000],
    [new TailnetClosedError("corp"), "TailnetNotReady", 500],
    [new CredentialsInvalid("no", { what }), "TailnetNotReady", 500],
    [new ScopeMissing("auth_keys", "no", { what }), "TailnetNotReady", 60_000],
    [new InvalidRequest("no", { what }), "TailnetUnavailable", 60_000],
    [new Unavailable("no", { what }), "TailnetUnavailable", 5_000],
    [new RateLimited("no", { what, retryAfterMs: 37_000 }), "TailnetUnavailable", 37_000],
    [new KubeConnectionError("PATCH /x", "reset"), "Pending", 500],
    [kube(403), "InvalidSpec", 60_000],
    [kube(422), "InvalidSpec", 60_000],
    [kube(409), "Pending", 500],
    [kube(500), "Pending", 500],
    [kube(429, 7_000), "Pending", 7_000],
  ];
  for (const [error, reason, wait] of cases) {
    const failure = failureOf(error, first);
    assertEquals([failure.reason, failure.retryAt - NOW], [reason, wait], error.name);
    assertEquals(failure.message, error.message);
  }
});

Deno.test("failureOf() waits longer and longer, and never long for what passes in the cluster", () => {
  const wait = (tries: number) => failureOf(kube(500), { ...first, tries }).retryAt - NOW;
  assertEquals([1, 2, 3, 4, 5, 6, 60].map(wait), [500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

Deno.test("failureOf() and checkFailureOf() hand on a fault of our own", () => {
  assertThrows(() => failureOf(new TypeError("x is undefined"), first), TypeError);
  assertThrows(() => checkFailureOf(new TypeError("x is undefined"), first), TypeError);
});

Deno.test("checkFailureOf() tries a refused credential twice a minute at most", () => {
  for (const tries of [1, 2, 10]) {
    for (const random of [0, 0.99]) {
      const attempt = { now: NOW, tries, random };
      const { reason, retryAt } = checkFailureOf(new CredentialsInvalid("no", { what }), attempt);
      assertEquals(reason, "CredentialsInvalid");
      assertEquals(retryAt - NOW >= 30_000 && retryAt - NOW <= 60_000, true);
    }
  }
});

Deno.test("checkFailureOf() names what is wrong with a tailnet", () => {
  const reasons = [
    new ScopeMissing("services", "no", { what }),
    new NotFound("no", { what }),
    new RateLimited("no", { what, retryAfterMs: 1 }),
    new Unavailable("no", { what }),
  ].map((error) => checkFailureOf(error, first).reason);
  assertEquals(reasons, ["ScopeMissing", "TailnetNotFound", "RateLimited", "Unavailable"]);
});
