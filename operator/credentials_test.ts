import { assert, assertEquals } from "@std/assert";
import * as resources from "../api/resources.ts";
import { withWorld } from "./testing/world.ts";
import {
  endpoints,
  everything,
  namespace,
  OAUTH_CLIENT,
  secret,
  tailnet,
} from "./testing/objects.ts";
import { bringToReady, CLUSTER, getReady } from "./testing/ready.ts";

const GOOD = { client_id: OAUTH_CLIENT.clientId, client_secret: OAUTH_CLIENT.clientSecret };
const NAMESPACES = [namespace("tailscale"), namespace("apps")];

Deno.test("M3 M4 a Secret that is not there is named, and noticed when it comes", () =>
  withWorld({}, async (world) => {
    await world.apply(...NAMESPACES, tailnet(), endpoints());
    world.start();
    const { message } = await world.untilCondition("corp", "SecretNotFound");
    assert(message.includes("tailscale/oauth"), message);
    await world.untilCondition("apps/wiki", "TailnetNotReady");
    await world.apply(secret());
    await world.untilCondition("corp", "True");
  }));

for (
  const [what, values] of Object.entries({
    "without client_secret": { client_id: OAUTH_CLIENT.clientId },
    "with an empty client_secret": { ...GOOD, client_secret: "" },
    "with a client_secret that is no text": { ...GOOD, client_secret: "\u0000\u0001" },
  })
) {
  Deno.test(`a Secret ${what} is refused with the key's name, and noticed when it is mended`, () =>
    withWorld({}, async (world) => {
      await world.apply(...NAMESPACES, secret(values), tailnet());
      world.start();
      const { message } = await world.untilCondition("corp", "SecretInvalid");
      assert(message.includes("client_secret"), message);
      assertEquals(world.tailscale.requests.length, 0);
      await world.apply(secret());
      await world.untilCondition("corp", "True");
    }));
}

Deno.test("a wrong credential is tried twice a minute at most, and a new Secret at once", () =>
  withWorld({}, async (world) => {
    await world.apply(...NAMESPACES, secret({ ...GOOD, client_secret: "wrong" }), tailnet());
    world.start();
    await world.untilCondition("corp", "CredentialsInvalid");
    await world.quiet();
    const before = world.tailscale.requests.length;
    await world.pass(60_000, 10_000);
    assert(world.tailscale.requests.length - before <= 2);
    await world.apply(secret());
    await world.untilCondition("corp", "True");
  }));

Deno.test("a credential that is revoked is said, hosts by name stay, and a new one heals it", () =>
  withWorld({}, async (world) => {
    world.tailnet.addHost({ name: "db", ip: "100.64.9.20" });
    const hosts = [{ name: "db", tailscaleFQDN: `db.${world.tailnet.domain}`, port: 8080 }];
    await getReady(world, [...everything(), endpoints({ endpoints: hosts })]);
    await world.until("resolved", async () => (await upstreams(world))?.[0] === "100.64.9.20:8080");
    world.tailscale.updateClient(OAUTH_CLIENT.clientId, { clientSecret: "rotated" });
    world.tailscale.revokeTokens();
    await world.pass(600_000, 300_000);
    assertEquals(world.condition("corp")?.reason, "CredentialsInvalid");
    assertEquals(await upstreams(world), ["100.64.9.20:8080"]);
    await world.apply(secret({ ...GOOD, client_secret: "wrong" }));
    await world.quiet();
    assertEquals(await upstreams(world), ["100.64.9.20:8080"]);
    await world.delete(secret());
    await world.untilCondition("corp", "SecretNotFound");
    assertEquals(await upstreams(world), ["100.64.9.20:8080"]);
    await world.apply(secret({ ...GOOD, client_secret: "rotated" }));
    await world.untilCondition("corp", "True");
    assertEquals(await upstreams(world), ["100.64.9.20:8080"]);
  }));

function upstreams(world: Parameters<Parameters<typeof withWorld>[1]>[0]) {
  return world.translate([CLUSTER], "apps/edge").then((clusters) => clusters.get(CLUSTER));
}

Deno.test("a tailnet that names another Secret is opened with that one, and follows it", () =>
  withWorld({}, async (world) => {
    await getReady(world);
    await world.apply(secret({ ...GOOD, client_secret: "wrong" }, "other"));
    await world.apply(tailnet({ oauthSecretName: "other" }));
    await world.untilCondition("corp", "CredentialsInvalid");
    await world.apply(secret(GOOD, "other"));
    await world.untilCondition("corp", "True");
    world.tailscale.requests.length = 0;
    await world.apply(secret({ ...GOOD, client_secret: "nobody reads this one" }));
    await world.quiet();
    assertEquals(world.tailscale.requests.length, 0);
    assertEquals(world.condition("corp")?.reason, "Ready");
  }));

Deno.test("M65 a missing scope is named, and found when it is granted", () =>
  withWorld(
    { clients: [{ ...OAUTH_CLIENT, scopes: ["devices:core", "services"] }] },
    async (world) => {
      await world.apply(...everything());
      world.start();
      const { message } = await world.untilCondition("corp", "ScopeMissing");
      assert(message.includes("auth_keys"), message);
      await world.quiet();
      world.takeWrites();
      await world.pass(300_000);
      assertEquals(world.takeWrites(), [], "the same is not said again");
      assertEquals(world.tailscaleCalls("POST", /keys/), 0);
      world.tailscale.updateClient(OAUTH_CLIENT.clientId, { scopes: OAUTH_CLIENT.scopes });
      world.tailscale.revokeTokens();
      await world.pass(70_000);
      assertEquals(world.condition("corp")?.status, "True");
      await bringToReady(world);
    },
  ));

Deno.test("tags that may not be given are named, asked for once a minute, and mended by the spec", () =>
  withWorld(
    { tagOwners: { "tag:k8s": ["tag:operator"], "tag:free": ["tag:operator"] } },
    async (world) => {
      const tags = (...tags: string[]) => endpoints({ tags });
      await world.apply(...everything(), tags("tag:foreign"));
      world.start();
      const { message } = await world.untilCondition("apps/wiki", "TagsNotPermitted", "Accepted");
      assert(message.includes("tag:foreign"), message);
      await world.quiet();
      const asked = () => world.tailscaleCalls("POST", /keys/);
      assertEquals(asked(), 1);
      // Events of all kinds wake the object, and do not make it ask again.
      for (let i = 0; i < 5; i++) {
        const labels = { touched: String(i) };
        const object = tags("tag:foreign");
        await world.apply({ ...object, metadata: { ...object.metadata, labels } });
        await world.quiet();
      }
      assertEquals(asked(), 1);
      await world.pass(180_000);
      assert(asked() <= 5, `${asked()} in 3 minutes`);
      await world.apply(tags("tag:free"));
      await bringToReady(world);
    },
  ));

Deno.test("a tailnet that nobody has is named in both objects", () =>
  withWorld({}, async (world) => {
    await world.apply(...NAMESPACES, secret(), tailnet({ tailnet: "nobody.example" }));
    await world.apply(endpoints({ tailnet: "elsewhere" }, "lost"));
    world.start();
    const { message } = await world.untilCondition("corp", "TailnetNotFound");
    assert(message.includes("nobody.example"), message);
    const lost = await world.untilCondition("apps/lost", "TailnetNotFound", "Accepted");
    assert(lost.message.includes("elsewhere"), lost.message);
    await world.apply(tailnet({}, "elsewhere"));
    await world.untilCondition("elsewhere", "True");
    await world.until(
      "it goes on",
      () => world.condition("apps/lost", "Accepted")?.status === "True",
    );
  }));

Deno.test("a Secret that cannot be stored costs one key, and none is left over", () =>
  withWorld({}, async (world) => {
    // Twice the store is broken off, and so is the look whether it was done.
    let lost = 0;
    world.api.failNext({
      times: 4,
      response: "reset",
      match: ({ url, method }) => {
        if (!url.includes("secrets/wiki-egress-0-config")) return false;
        return method === "PATCH" ? ++lost <= 2 : lost > 0 && lost <= 2;
      },
    });
    await getReady(world);
    const keys = await world.tailnet.keys();
    assertEquals(keys.filter(({ used, revoked }) => !used && !revoked), []);
    assertEquals(keys.length, 1);
    assertEquals(world.api.objects(resources.STATEFUL_SET).length, 1);
  }));
