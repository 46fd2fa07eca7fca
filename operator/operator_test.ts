import { assert, assertEquals, assertMatch } from "@std/assert";
import * as resources from "../api/resources.ts";
import type { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { TailscaleEndpoints as ENDPOINTS } from "../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../api/tailscale_tailnet.ts";
import { withWorld } from "./testing/world.ts";
import { endpoints, everything, OAUTH_CLIENT, proxy, tailnet } from "./testing/objects.ts";
import { bringToReady, CLUSTER, getReady } from "./testing/ready.ts";

Deno.test("M60 M62 M176 from nothing to a route that Envoy can use", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const clusters = await world.translate([CLUSTER, "httproute/other/one/rule/0"], "apps/edge");
    assertEquals(clusters.get(CLUSTER), ["100.64.9.10:8080"]);
    assertEquals(clusters.get("httproute/other/one/rule/0"), [], "another's cluster is not ours");
    assertEquals(world.condition("corp")?.reason, "Ready");
    const { status } = world.find<TailscaleEndpoints>(ENDPOINTS.resource, "apps/wiki") ?? {};
    assertEquals(status?.healthyEndpoints, 1);
    assertEquals(status?.devices?.[0]?.tags, ["tag:k8s"]);
  }));

Deno.test("M99 M182 at rest there is no write for an hour, and few calls of Tailscale's API", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    world.takeWrites();
    world.tailscale.requests.length = 0;
    await world.pass(3_600_000, 300_000);
    assertEquals(world.takeWrites(), []);
    assert(world.tailscale.requests.length <= 12, `${world.tailscale.requests.length} calls`);
  }));

Deno.test("M244 an operator that is started again makes no key and no device, and writes nothing", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    await world.stop();
    const [keys, nodes] = [await world.tailnet.keys(), await world.tailnet.nodes()];
    world.takeWrites();
    world.start();
    await world.until("hooks are served", () => world.operator.listening?.grpcPort);
    await world.pass(120_000);
    assertEquals(await world.tailnet.keys(), keys);
    assertEquals((await world.tailnet.nodes()).map(({ nodeId }) => nodeId), [nodes[0]?.nodeId]);
    assertEquals(world.takeWrites(), []);
    assertEquals(world.condition("apps/wiki")?.status, "True");
  }));

Deno.test("what changed while the operator was down is done when it is back", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const before = world.revision()?.spec.revision;
    await world.stop();
    const hosts = [{ name: "wiki", tailscaleIP: "100.64.9.11", port: 8080 }];
    await world.apply(endpoints({ ...proxy(2), endpoints: hosts }));
    world.start();
    await world.until("a new revision", () => world.revision()?.spec.revision !== before);
    await bringToReady(world);
    assertEquals((await world.translate([CLUSTER])).get(CLUSTER), ["100.64.9.11:8080"]);
    assertEquals((await world.tailnet.nodes()).length, 2);
  }));

Deno.test("M60 M232 no credential is in logs, Events, status or metrics", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything());
    world.fail({ method: "PATCH", path: /wiki-egress-0-config/, response: { status: 500 } });
    world.tailscale.failNext({ status: 500, path: /devices/, body: OAUTH_CLIENT.clientSecret });
    await getReady(world);
    world.tailscale.updateClient(OAUTH_CLIENT.clientId, { clientSecret: "another" });
    world.tailscale.revokeTokens();
    await world.pass(11 * 60_000, 120_000);
    assertEquals(world.condition("corp")?.reason, "CredentialsInvalid");
    const { text: metrics } = await world.http("/metrics");
    await world.stop();
    const objects = [TailscaleTailnet.resource, ENDPOINTS.resource, resources.EVENT]
      .flatMap((type) => world.api.objects(type));
    assert(world.api.objects(resources.EVENT).length > 0, "there are Events to look at");
    const keys = (await world.tailnet.keys()).map(({ key }) => key);
    const canaries = [OAUTH_CLIENT.clientSecret, ...keys];
    for (const text of [world.logs.join("\n"), JSON.stringify(objects), metrics]) {
      const found = canaries.filter((canary) =>
        text.includes(canary) || text.includes(btoa(canary))
      );
      assertEquals(found.length, 0);
    }
  }));

Deno.test("M225 M230 /metrics counts the reconciles of each controller", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    const { text } = await world.http("/metrics");
    for (const controller of ["tailnet", "endpoints", "revision"]) {
      const pattern = `controller_runtime_reconcile_total\\{controller="${controller}",` +
        `result="(success|requeue_after)"\\} [1-9]`;
      assertMatch(text, new RegExp(pattern));
    }
    assertMatch(text, /tailscale_gateway_tailscale_api_requests_total\{.*code="200".*\} [1-9]/);
  }));

Deno.test("M215 a wrong tailnet does not stop another one", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything(), tailnet({ oauthSecretName: "none" }, "broken"));
    await getReady(world, []);
    assertEquals(world.condition("broken")?.reason, "SecretNotFound");
    assertEquals(world.condition("corp")?.reason, "Ready");
  }));
