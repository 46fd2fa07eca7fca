import { assertEquals } from "@std/assert";
import { isAutoApproved, mayGiveTags, scopeAllows } from "./policy.ts";

const OWNERS = {
  "tag:k8s-operator": [],
  "tag:k8s": ["tag:k8s-operator"],
  "tag:web": ["tag:k8s-operator"],
  "tag:other": ["autogroup:admin"],
};

Deno.test("a client may give its own tags as a whole, or tags that its own ones own", () => {
  const cases: [string[], string[], boolean][] = [
    [["tag:k8s-operator"], ["tag:k8s-operator"], true],
    [["tag:k8s"], ["tag:k8s-operator"], true],
    [["tag:k8s", "tag:web"], ["tag:k8s-operator"], true],
    [["tag:k8s-operator", "tag:other"], ["tag:other", "tag:k8s-operator"], true], // in any order
    [["tag:other"], ["tag:k8s-operator", "tag:other"], false], // a part of its own
    [["tag:k8s", "tag:other"], ["tag:k8s-operator"], false], // one is not owned
    [["tag:missing"], ["tag:k8s-operator"], false], // not in the policy
    [["tag:missing"], ["tag:missing"], false],
    [["k8s"], ["tag:k8s-operator"], false], // no tag
    [["tag:toString"], ["tag:k8s-operator"], false],
  ];
  for (const [requested, own, expected] of cases) {
    assertEquals(mayGiveTags(requested, own, OWNERS), expected, `${requested} by ${own}`);
  }
});

Deno.test("without a policy only the form of tags is checked", () => {
  assertEquals(mayGiveTags(["tag:anything"], ["tag:k8s-operator"], undefined), true);
  assertEquals(mayGiveTags(["tag:1"], ["tag:k8s-operator"], undefined), false);
});

Deno.test("scopes cover what is narrower, and reading does not cover writing", () => {
  assertEquals(scopeAllows(["devices:core"], "devices:core", "write"), true);
  assertEquals(scopeAllows(["devices:core"], "devices:core", "read"), true);
  assertEquals(scopeAllows(["devices:core:read"], "devices:core", "read"), true);
  assertEquals(scopeAllows(["devices:core:read"], "devices:core", "write"), false);
  assertEquals(scopeAllows(["devices"], "devices:core", "write"), true);
  assertEquals(scopeAllows(["all"], "services", "write"), true);
  assertEquals(scopeAllows(["all:read"], "services", "read"), true);
  assertEquals(scopeAllows(["auth_keys"], "services", "read"), false);
  assertEquals(scopeAllows([], "services", "read"), false);
});

Deno.test("hosts are approved by the service's name or by one of its tags", () => {
  const service = { name: "svc:web", tags: ["tag:web"] };
  assertEquals(isAutoApproved(service, ["tag:k8s"], { "svc:web": ["tag:k8s"] }), true);
  assertEquals(isAutoApproved(service, ["tag:k8s"], { "tag:web": ["tag:k8s"] }), true);
  assertEquals(isAutoApproved(service, ["tag:db"], { "svc:web": ["tag:k8s"] }), false);
  assertEquals(isAutoApproved(service, ["tag:k8s"], { "svc:db": ["tag:k8s"] }), false);
});
