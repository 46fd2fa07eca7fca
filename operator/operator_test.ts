import { assert, assertEquals } from "@std/assert";
import { withWorld } from "./testing.ts";
import { everything } from "./testing_objects.ts";

Deno.test("M60 the operator takes a route from nothing to a host in the tailnet", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything());
    world.start();
    await world.untilCondition("corp", "True");
    await world.untilCondition("apps/wiki", "HooksNotCalled");
    const clusters = await world.translate(["httproute/apps/wiki/rule/0"], "apps/edge");
    assertEquals(clusters.get("httproute/apps/wiki/rule/0"), ["100.64.9.10:8080"]);
    await world.untilCondition("apps/wiki", "True");
    assert(true);
  }));
