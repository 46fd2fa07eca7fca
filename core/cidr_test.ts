import { assert, assertFalse } from "@std/assert";
import { isAddress, isTailnetAddress } from "./cidr.ts";

Deno.test("isAddress() takes both families and nothing else", () => {
  for (const text of ["100.64.0.1", "fd7a:115c:a1e0::1"]) assert(isAddress(text), text);
  for (const text of ["", "web", "100.64.0", "1", "100.64.0.1:80"]) {
    assertFalse(isAddress(text), text);
  }
});

Deno.test("isTailnetAddress() knows the ranges of both families", () => {
  for (const text of ["100.64.0.0", "100.127.255.255", "fd7a:115c:a1e0::5"]) {
    assert(isTailnetAddress(text), text);
  }
  for (const text of ["100.63.255.255", "100.128.0.0", "10.0.0.1", "fd7b::1", "x"]) {
    assertFalse(isTailnetAddress(text), text);
  }
});
