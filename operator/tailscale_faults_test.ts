import { assert, assertEquals } from "@std/assert";
import { withWorld } from "./testing/world.ts";
import { endpoints, everything, proxy } from "./testing/objects.ts";
import { bringToReady, CLUSTER, getReady } from "./testing/ready.ts";

const BROKEN: Record<string, () => Promise<Response>> = {
  "does not answer": () => Promise.reject(new TypeError("connection refused")),
  "answers with a page of a proxy": () =>
    Promise.resolve(
      new Response("<html><title>502 Bad Gateway</title></html>", {
        status: 502,
        headers: { "content-type": "text/html" },
      }),
    ),
  "answers with half a JSON": () =>
    Promise.resolve(new Response('{"access_token":"tskey-', { status: 200 })),
};

for (const [what, answer] of Object.entries(BROKEN)) {
  Deno.test(`a Tailscale API that ${what} at the start is said, and found when it is back`, () =>
    withWorld({}, async (world) => {
      await world.apply(...everything());
      world.tailscaleFault = answer;
      world.start();
      await world.untilCondition("corp", "Unavailable");
      await world.untilCondition("apps/wiki", "TailnetNotReady");
      await world.until("hooks are served", () => world.operator.listening?.grpcPort);
      world.tailscaleFault = undefined;
      world.clock.skip(10_000);
      await world.untilCondition("corp", "True");
      await bringToReady(world);
    }));
}

Deno.test("while Tailscale's API is down at a start, hosts by address go on, 15 s later at most", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    await world.stop();
    const hang = Promise.withResolvers<Response>();
    world.tailscaleFault = () => hang.promise;
    world.start();
    await world.until("synced", async () => (await world.http("/ready")).text.includes("tailnet"));
    assertEquals(world.operator.listening?.grpcPort, undefined);
    world.clock.skip(15_000);
    assertEquals((await world.translate([CLUSTER])).get(CLUSTER), ["100.64.9.10:8080"]);
    world.tailscaleFault = undefined;
    hang.reject(new TypeError("connection reset"));
    await world.untilCondition("corp", "True");
    await world.pass(60_000);
    assertEquals(world.condition("apps/wiki")?.status, "True");
  }));

Deno.test("a Retry-After of 37 s is waited for, and no call goes out before", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything());
    world.tailscale.failNext({ status: 429, retryAfter: 37, path: /devices/ });
    world.start();
    await world.untilCondition("corp", "RateLimited");
    await world.quiet();
    const before = world.tailscale.requests.length;
    await world.pass(34_000, 4_000);
    assertEquals(world.tailscale.requests.length, before);
    world.clock.skip(4_000);
    await world.untilCondition("corp", "True");
  }));

Deno.test("M98 M181 a Tailscale API that goes down later takes nothing away, and is not pressed", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    world.tailscaleFault = BROKEN["answers with a page of a proxy"];
    await world.apply(endpoints(proxy(3)));
    let calls = 0;
    const fault = world.tailscaleFault;
    world.tailscaleFault = () => (calls++, fault!());
    await world.pass(600_000, 60_000);
    assert(calls <= 40, `${calls} calls in 10 minutes`);
    assertEquals((await world.translate([CLUSTER])).get(CLUSTER), ["100.64.9.10:8080"]);
    assertEquals(world.condition("corp")?.status, "True");
    world.tailscaleFault = undefined;
    await world.pass(120_000);
    await bringToReady(world);
    assertEquals((await world.tailnet.nodes()).length, 3);
  }));

Deno.test("M98 half a list of devices removes nothing", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    world.tailscale.failNext({ mode: "half-json", path: /devices/, times: 2 });
    world.takeWrites();
    await world.pass(600_000, 300_000);
    assertEquals(world.takeWrites(), []);
    assertEquals(world.tailscaleCalls("DELETE", /./), 0);
    assertEquals(world.condition("apps/wiki")?.status, "True");
  }));
