import { assertEquals, assertStringIncludes } from "@std/assert";
import { withWorld } from "./testing/world.ts";
import { endpoints, everything, namespace, proxy, tailnet } from "./testing/objects.ts";

Deno.test("M2 a namespace that is not allowed gets no key, until its labels change", () =>
  withWorld({}, async (world) => {
    const allowed = { from: "Selector", selector: { matchLabels: { team: "web" } } };
    const narrow = tailnet({ allowedNamespaces: allowed });
    await world.apply(...everything(), namespace("apps", { team: "db" }), narrow);
    world.start();
    const { message } = await world.untilCondition("apps/wiki", "NamespaceNotAllowed", "Accepted");
    assertStringIncludes(message, "namespace apps");
    await world.quiet();
    assertEquals(await world.tailnet.keys(), []);
    await world.apply(namespace("apps", { team: "web" }));
    await world.untilCondition("apps/wiki", "Accepted", "Accepted");
    await world.until("a proxy", async () => (await world.tailnet.nodes()).length === 1);
    await world.apply(
      namespace("apps", { team: "db" }),
      endpoints(proxy(3)),
    );
    await world.untilCondition("apps/wiki", "NamespaceNotAllowed", "Accepted");
    await world.quiet();
    assertEquals(
      (await world.tailnet.nodes()).length,
      1,
      "what runs goes on, and nothing is added",
    );
  }));

Deno.test("M65 M231 tags beside allowedTags are refused by the operator, and Tailscale is not asked", () =>
  withWorld({}, async (world) => {
    const tags = ["tag:web", "tag:admin"];
    await world.apply(...everything(), tailnet({ allowedTags: ["tag:web"] }), endpoints({ tags }));
    world.start();
    const { message } = await world.untilCondition("apps/wiki", "TagsNotPermitted", "Accepted");
    assertStringIncludes(message, "does not allow tag:admin:");
    await world.quiet();
    assertEquals(world.tailscaleCalls("POST", /keys/), 0);
    await world.apply(tailnet({ allowedTags: tags }));
    await world.untilCondition("apps/wiki", "Accepted", "Accepted");
  }));
