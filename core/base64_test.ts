import { assertEquals } from "@std/assert";
import { decodeBase64, encodeBase64 } from "./base64.ts";

Deno.test("encodeBase64() and decodeBase64() carry any text", () => {
  for (const text of ["", "tskey", "ü € 😀"]) assertEquals(decodeBase64(encodeBase64(text)), text);
});

Deno.test("decodeBase64() answers undefined for what is no text", () => {
  assertEquals(decodeBase64("%%%"), undefined);
  assertEquals(decodeBase64(btoa("\xff\xfe")), undefined);
});
