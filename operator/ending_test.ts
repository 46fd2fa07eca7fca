import { assert, assertEquals, assertRejects } from "@std/assert";
import { ListenError } from "../telemetry/http.ts";
import { withWorld } from "./testing/world.ts";
import { TestEnvoyGateway } from "./testing/envoy.ts";
import { everything } from "./testing/objects.ts";
import { CLUSTER, getReady } from "./testing/ready.ts";

Deno.test("M101 an idle operator ends within a second, and leaves no timer and no watch", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const watches = world.api.openWatches;
    const began = performance.now();
    await world.stop();
    const took = performance.now() - began;
    assert(took < 1_000, `it took ${took} ms`);
    assert(watches > world.api.openWatches);
  }));

Deno.test("an operator that waits for the API server ends at once", () =>
  withWorld({}, async (world) => {
    world.fail({ times: Infinity, response: "hang" });
    world.start();
    await world.until("it asks", () => world.sent.length > 5);
    const began = performance.now();
    await world.stop();
    assert(performance.now() - began < 1_000);
  }));

Deno.test("an operator that waits for a tailnet ends at once, and leaves no timer", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything());
    world.tailscale.failNext({ mode: "hang", times: Infinity });
    world.start();
    await world.until("it asks", () => world.tailscale.requests.length > 0);
    assertEquals((await world.http("/ready")).status, 503);
    assert((await world.http("/ready")).text.includes("waiting for the answer of tailnet corp"));
    // Its calls are broken off after some seconds, so that the end comes in time all the same.
    let ended = false;
    const began = world.clock.now();
    world.stop().then(() => ended = true);
    await world.until("the end", () => {
      if (!ended) world.clock.skip(500);
      return ended;
    });
    assert(world.clock.now() - began < 10_000);
  }));

Deno.test("M101 a call of a hook that runs when the operator ends is answered", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const envoyGateway = new TestEnvoyGateway(world.operator.listening?.grpcPort ?? 0);
    await envoyGateway.translate([CLUSTER]);
    const call = envoyGateway.translate([CLUSTER]);
    const stopped = world.stop();
    const answer = await call.then((clusters) => clusters.get(CLUSTER), (error) => error.code);
    envoyGateway.close();
    // It is answered in full; or, where it came too late, refused as a whole.
    assert(answer === 14 || answer?.[0] === "100.64.9.10:8080", `${answer}`);
    await stopped;
  }));

Deno.test("an address that is taken is said in one line", () =>
  withWorld({}, async (world) => {
    const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    try {
      const { port } = taken.addr;
      const operator = world.create({ httpAddress: `127.0.0.1:${port}` });
      const error = await assertRejects(
        () => operator.run(new AbortController().signal),
        ListenError,
      );
      assert(error.message.includes(`127.0.0.1:${port}`));
    } finally {
      taken.close();
    }
  }));

Deno.test("a gRPC address that is taken ends the operator, with all that ran", () =>
  withWorld({}, async (world) => {
    const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    try {
      const operator = world.create({ grpcAddress: `127.0.0.1:${taken.addr.port}` });
      const error = await assertRejects(() => operator.run(new AbortController().signal), Error);
      assert(error.message.includes(`cannot serve gRPC on 127.0.0.1:${taken.addr.port}`));
    } finally {
      taken.close();
    }
  }));
