import { assertEquals } from "@std/assert";
import { isCIDR, isDialableHost, isDialableIP, isIP, parseExternalTarget } from "./address.ts";

Deno.test("isIP() takes whole addresses, as Kubernetes does", () => {
  for (const text of ["100.64.0.1", "fd7a:115c:a1e0::1", "::1", "0.0.0.0"]) {
    assertEquals(isIP(text), true, text);
  }
  const others = [
    "",
    "100.64.0",
    "100.64.0.01",
    "1",
    "0x7f.0.0.1",
    "fe80::1%eth0",
    "::ffff:1.2.3.4",
  ];
  for (const text of others) assertEquals(isIP(text), false, text);
});

Deno.test("isCIDR() takes ranges of either family, as Kubernetes does", () => {
  for (
    const text of ["100.64.0.0/10", "10.0.0.1/32", "0.0.0.0/0", "fd7a:115c:a1e0::/48", "::/128"]
  ) {
    assertEquals(isCIDR(text), true, text);
  }
  const others = ["", "10.0.0.1", "10.0.0.0/33", "10.0.0.0/08", "10.0.0/8", "::/129", "/8", "a/8"];
  for (const text of [...others, "10.0.0.0/", "10.0.0.0/8/8"]) {
    assertEquals(isCIDR(text), false, text);
  }
});

Deno.test("isDialableIP() takes addresses of one host other than the own", () => {
  for (const text of ["100.64.0.1", "10.0.0.1", "fd00::1", "2001:db8::1"]) {
    assertEquals(isDialableIP(text), true, text);
  }
  const others = ["127.0.0.53", "::1", "0.0.0.0", "::", "169.254.1.1", "fe80::1", "224.0.0.1", "x"];
  for (const text of others) assertEquals(isDialableIP(text), false, text);
});

Deno.test("isDialableHost() refuses names that mean the own host or hide an address", () => {
  for (const host of ["web.apps.svc", "web-1", "10.0.0.1", "localhost.example.com"]) {
    assertEquals(isDialableHost(host), true, host);
  }
  for (const host of ["localhost", "a.localhost", "127.1", "2130706433", "0x7f.1", "127.0.0.1"]) {
    assertEquals(isDialableHost(host), false, host);
  }
});

Deno.test("parseExternalTarget() gives host and port, without brackets", () => {
  assertEquals(parseExternalTarget("web.apps.svc:8080"), { host: "web.apps.svc", port: 8080 });
  assertEquals(parseExternalTarget("[fd00::1]:80"), { host: "fd00::1", port: 80 });
});

Deno.test("parseExternalTarget() gives undefined for other forms", () => {
  for (const text of ["", "web", ":80", "web:0", "web:http", "[web]:80", "fd00::1:80", "a b:80"]) {
    assertEquals(parseExternalTarget(text), undefined, text);
  }
});
