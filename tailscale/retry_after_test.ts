import { assertEquals } from "@std/assert";
import { parseRetryAfter } from "./retry_after.ts";

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

Deno.test("parseRetryAfter() takes seconds and each form of an HTTP date", () => {
  const cases: [string | null, number | undefined][] = [
    ["37", 37_000],
    [" 0 ", 0],
    ["1.5", 1_500],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 37_000],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 37_000],
    ["Sun Nov  6 08:49:37 1994", 37_000],
    ["Sun, 06 Nov 1994 08:48:00 GMT", 0], // in the past
    ["99999999999", 86_400_000], // at most a day
    ["Fri, 31 Dec 9999 23:59:59 GMT", 86_400_000],
    [null, undefined],
    ["", undefined],
    ["-5", undefined],
    ["soon", undefined],
    ["Sun, 99 Nov 1994 08:49:37 GMT", undefined],
    ["1994-11-06T08:49:37Z", undefined], // no HTTP date
  ];
  for (const [header, expected] of cases) {
    assertEquals(parseRetryAfter(header, NOW), expected, `${header}`);
  }
});
