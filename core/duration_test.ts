import { assertEquals } from "@std/assert";
import { parseDuration } from "./duration.ts";

Deno.test("parseDuration() reads the Gateway API's durations", () => {
  assertEquals(parseDuration("30s"), 30_000);
  assertEquals(parseDuration("1h30m"), 5_400_000);
  assertEquals(parseDuration("500ms"), 500);
  for (const text of ["", "30", "1.5s", "-1s", "30 s", "1d"]) {
    assertEquals(parseDuration(text), undefined, text);
  }
});
