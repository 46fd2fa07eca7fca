import { assertEquals, assertThrows } from "@std/assert";
import { baseURL, keyDescription } from "./checks.ts";
import { InvalidRequest } from "./errors.ts";
import { pathOf } from "./call.ts";

Deno.test("apiURL is taken with a trailing slash, a path, or the /api/v2 that it must not have", () => {
  for (
    const url of ["https://api.example", "https://api.example/", "https://api.example/api/v2/"]
  ) {
    assertEquals(baseURL(url), "https://api.example");
  }
  assertEquals(baseURL("http://[::1]:8080/base//"), "http://[::1]:8080/base");
});

Deno.test("an apiURL that cannot be used is refused; one with a password is not repeated", () => {
  for (const url of ["", "api.example", "ftp://api.example"]) {
    assertThrows(() => baseURL(url), InvalidRequest, "no http or https URL");
  }
  const error = assertThrows(() => baseURL("https://u:canary@api.example"), InvalidRequest);
  assertEquals(error.message.includes("canary"), false);
  assertThrows(() => baseURL("https://api.example?x=1"), InvalidRequest);
});

Deno.test("a key's description becomes what Tailscale takes", () => {
  assertEquals(keyDescription("apps/web-proxies_0 (egress)"), "apps-web-proxies-0 -egress-");
  assertEquals(keyDescription("x".repeat(80)).length, 50);
});

Deno.test("paths are escaped, but for the colon of a service's name", () => {
  assertEquals(
    pathOf({ path: ["tailnet", "a b/c.example", "vip-services", "svc:web"] }),
    "/api/v2/tailnet/a%20b%2Fc.example/vip-services/svc:web",
  );
});
