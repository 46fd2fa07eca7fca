import { assertEquals, assertThrows } from "@std/assert";
import { assertInside, inNamespaces, inNamespacesOf, isInside, NotInsideError } from "./netns.ts";

Deno.test("a command in new namespaces dies with its caller", () => {
  const command = inNamespaces(["deno", "test"]);
  assertEquals(command.slice(0, 4), ["setpriv", "--pdeathsig", "KILL", "--"]);
  assertEquals(command.slice(-3), ["testbed", "deno", "test"]);
});

Deno.test("a command enters the namespaces of a process", () => {
  const command = inNamespacesOf(42, ["id"]).join(" ");
  assertEquals(command, "nsenter --net --mount --pid --target 42 env TESTBED_INSIDE=1 id");
});

Deno.test({
  name: "the testbed refuses to start outside its namespaces",
  ignore: isInside(),
  fn: () => {
    assertThrows(assertInside, NotInsideError, "deno task e2e");
  },
});
