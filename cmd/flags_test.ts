import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { CommandError } from "./errors.ts";
import { describeFlags, oneOf, parseFlags, wholeNumber } from "./flags.ts";

const FLAGS = {
  port: { help: "the port", default: "8080" },
  level: { help: "how much", env: "TAILSCALE_GATEWAY_TEST_LEVEL" },
};

Deno.test("parseFlags() takes a flag before its environment variable before its default", () => {
  assertEquals(parseFlags([], FLAGS).values, { port: "8080", level: undefined });
  Deno.env.set("TAILSCALE_GATEWAY_TEST_LEVEL", "debug");
  try {
    assertEquals(parseFlags(["--port=1"], FLAGS).values, { port: "1", level: "debug" });
    assertEquals(parseFlags(["--level", "warn", "dir"], FLAGS), {
      values: { port: "8080", level: "warn" },
      positionals: ["dir"],
      help: false,
    });
  } finally {
    Deno.env.delete("TAILSCALE_GATEWAY_TEST_LEVEL");
  }
});

Deno.test("parseFlags() refuses what it does not know, as a misuse", () => {
  const error = assertThrows(() => parseFlags(["--prot=1"], FLAGS), CommandError, "--prot");
  assertEquals(error.exitCode, 2);
});

Deno.test("oneOf() and wholeNumber() say what they take", () => {
  assertEquals(oneOf("level", "b", ["a", "b"]), "b");
  assertThrows(
    () => oneOf("level", "c", ["a", "b"]),
    CommandError,
    "--level is c; give one of a, b",
  );
  assertEquals(wholeNumber("port", "80", 1), 80);
  for (const bad of ["0", "x", "1.5", undefined]) {
    assertThrows(() => wholeNumber("port", bad, 1), CommandError, "whole number");
  }
});

Deno.test("describeFlags() names defaults and variables", () => {
  const text = describeFlags(FLAGS);
  assertStringIncludes(text, "--port   the port (default 8080)");
  assertStringIncludes(text, "or $TAILSCALE_GATEWAY_TEST_LEVEL");
});
