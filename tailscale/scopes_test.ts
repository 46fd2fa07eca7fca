import { assertEquals } from "@std/assert";
import { grantOf } from "./scopes.ts";

Deno.test("a token's scopes grant a scope, its reading, nothing, or are not known", () => {
  assertEquals(grantOf("devices:core", ["auth_keys", "devices:core"]), "write");
  assertEquals(grantOf("devices:core", ["devices"]), "write");
  assertEquals(grantOf("services", ["all"]), "write");
  assertEquals(grantOf("services", ["services:read"]), "read");
  assertEquals(grantOf("auth_keys", ["all:read"]), "read");
  assertEquals(grantOf("auth_keys", ["auth_keys:read", "auth_keys"]), "write");
  assertEquals(grantOf("services", ["devices:core"]), "none");
  assertEquals(grantOf("services", []), "none");
  assertEquals(grantOf("services", undefined), "unknown");
});
