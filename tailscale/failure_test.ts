import { assertEquals, assertInstanceOf, assertMatch, assertStringIncludes } from "@std/assert";
import {
  CredentialsInvalid,
  InvalidRequest,
  NameConflict,
  NotFound,
  NotOurs,
  RateLimited,
  ScopeMissing,
  TagsNotPermitted,
  TailscaleError,
  Unavailable,
} from "./errors.ts";
import { type FailedCall, failureOf, serverMessage, tagAdvice } from "./failure.ts";
import { Redactor } from "./redact.ts";

const CALL: FailedCall = {
  what: "GET /api/v2/x",
  tailnet: "-",
  scope: "devices:core",
};

function failure(status: number, text = "", call: Partial<FailedCall> = {}, more = {}) {
  const reply = { status, text, location: undefined, retryAfterMs: undefined, ...more };
  return failureOf(reply, { ...CALL, ...call }, new Redactor(["canary"]));
}

Deno.test("each status is the error of its decision, and keeps its status", () => {
  const cases: [number, string, Partial<FailedCall>, abstract new (...a: never[]) => unknown][] = [
    [400, "", {}, InvalidRequest],
    [400, '{"message":"name exists but is not a service"}', {}, NameConflict],
    [400, '{"message":"requested tags [x] are invalid"}', { tags: ["tag:x"] }, TagsNotPermitted],
    [401, "", {}, CredentialsInvalid],
    [403, "", {}, ScopeMissing],
    [403, "", { scope: undefined }, CredentialsInvalid],
    [404, "", {}, NotFound],
    [405, "", {}, InvalidRequest],
    [408, "", {}, Unavailable],
    [409, "", {}, InvalidRequest],
    [422, "", {}, InvalidRequest],
    [429, "", {}, RateLimited],
    [500, "", {}, Unavailable],
    [501, "", {}, Unavailable],
    [501, "", { deletesDevice: true }, NotOurs],
    [502, "<html>", {}, Unavailable],
    [503, "", {}, Unavailable],
  ];
  for (const [status, text, call, type] of cases) {
    const error = failure(status, text, call);
    assertInstanceOf(error, type, `${status}`);
    assertInstanceOf(error, TailscaleError);
    assertEquals(error.status, status);
    assertEquals(error.name, type.name);
  }
});

Deno.test("a message has the request, the status, what the server said and what to do", () => {
  assertEquals(
    failure(403, '{"message":"not enough permissions"}').message,
    "GET /api/v2/x: status 403: not enough permissions. The OAuth client lacks the scope " +
      '"devices:core" (write): add it in Tailscale\'s admin console under Settings, OAuth clients',
  );
  assertMatch(failure(401).message, /put a valid client_id and client_secret in the Secret$/);
  assertStringIncludes(failure(404, "", { tailnet: "acme" }).message, 'set tailnet to "-"');
});

Deno.test("refused tags are named with those granted, and the policy that would do", () => {
  assertEquals(
    tagAdvice(["tag:k8s", "tag:web"], ["tag:k8s", "tag:op"]),
    "requested tag:k8s, tag:web; the OAuth client has tag:k8s, tag:op. tag:web has no owner among " +
      'those. The policy\'s tagOwners needs: "tag:web": ["tag:k8s"]',
  );
  assertStringIncludes(tagAdvice(["tag:a", "tag:b"], ["tag:op"]), "At least one of tag:a, tag:b");
  assertStringIncludes(tagAdvice(["tag:a"], ["tag:a", "tag:b"]), '"tag:a": ["tag:a"]');
  assertStringIncludes(tagAdvice(["tag:a"], []), "the OAuth client has no tags");
  assertStringIncludes(tagAdvice(["tag:a"], undefined), "tagOwners");
});

Deno.test("a redirect is not followed but reported", () => {
  const error = failure(301, "", {}, { location: "https://login.example/?t=canary" });
  assertInstanceOf(error, InvalidRequest);
  assertStringIncludes(error.message, "redirected to https://login.example/?t=[redacted]");
});

Deno.test("the server's words come from JSON, from OAuth errors, or from a page", () => {
  const cases: [string, string][] = [
    ['{"message":"no","data":[{"user":"a","errors":["x","y"]}]}', "no; x; y"],
    ['{"error":"invalid_client","error_description":"bad"}', "invalid_client; bad"],
    ["<html><head><title>502 Bad Gateway</title></head>x</html>", "502 Bad Gateway"],
    ["<h1>Not\n  here</h1>", "Not here"],
    ["plain", "plain"],
    ['{"message":7}', ""],
    ["[1]", "[1]"],
    ["", ""],
  ];
  for (const [body, expected] of cases) assertEquals(serverMessage(body), expected);
});

Deno.test("what a server echoes is redacted before it is cut, and cut", () => {
  const long = `${"x".repeat(297)}canary and more`;
  const { message } = failure(500, long);
  assertEquals(message.includes("can"), false);
  assertMatch(message, /…$/);
  assertEquals(failure(500, "secret canary!").message.includes("canary"), false);
});
