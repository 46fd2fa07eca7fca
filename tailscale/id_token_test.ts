import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { IdTokenUnavailable } from "./errors.ts";
import { checkIdToken } from "./id_token.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");

function token(payload: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(payload));
  return `e30.${bytes.toBase64({ alphabet: "base64url", omitPadding: true })}.c2ln`;
}

Deno.test("checkIdToken() passes a token that is not expired, without the space around it", () => {
  const good = token({ exp: NOW / 1000 + 1 });
  assertEquals(checkIdToken(`${good}\n`, NOW), good);
});

for (
  const [what, text, message] of [
    ["that is empty", "", "is no JSON web token"],
    ["of two parts", "e30.e30", "is no JSON web token"],
    ["whose claims are no JSON", "e30.bm9uZQ.c2ln", "can't be read"],
    ["whose claims are a list", token([]), "can't be read"],
    ["without an end", token({}), 'has no "exp"'],
    ["whose end is no number", token({ exp: "soon" }), 'has no "exp"'],
    ["that ends now", token({ exp: NOW / 1000 }), "expired at 2026-03-01T12:00:00.000Z"],
  ] as const
) {
  Deno.test(`checkIdToken() refuses a token ${what}, and does not show it`, () => {
    const error = assertThrows(() => checkIdToken(text, NOW), IdTokenUnavailable);
    assertStringIncludes(error.message, message);
    assert(text === "" || !error.message.includes(text));
  });
}
