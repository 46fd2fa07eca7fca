import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { KubeObject } from "../core/object.ts";
import { TailscaleTailnet } from "../api/tailscale_tailnet.ts";
import { KubeClient } from "../kube/client.ts";
import { requestToken } from "../kube/token_request.ts";
import { handlerTransport } from "../kube/transport.ts";
import type { IdentityTokens } from "./identity.ts";
import { ACCOUNT, FEDERATED_CLIENT, identityIn } from "./testing/federation.ts";
import { getReady } from "./testing/ready.ts";
import { type TestWorld, withWorld } from "./testing/world.ts";
import { everything, object, secret } from "./testing/objects.ts";

const { clientId, audience } = FEDERATED_CLIENT;
const FEDERATED = secret({ client_id: clientId, audience });
const HOUR_MS = 3_600_000;

/** The operator's account. */
function account(): KubeObject {
  return object("v1", "ServiceAccount", ACCOUNT);
}

/** All that is needed, with a Secret that holds no secret. */
function objects(): KubeObject[] {
  return [...everything(), FEDERATED, account()];
}

function exchanges(world: TestWorld): number {
  return world.tailscaleCalls("POST", /oauth\/token-exchange/);
}

Deno.test("M3 M232 a tailnet without a secret works by tokens of the operator's account, a new one each hour", () =>
  withWorld({}, async (world) => {
    await getReady(world, objects());
    assertEquals(world.tailscaleCalls("POST", /oauth\/token$/), 0);
    assertEquals([exchanges(world), tokenRequests(world)], [1, 1]);
    await world.pass(HOUR_MS, 300_000);
    assertEquals([exchanges(world), tokenRequests(world)], [2, 2]);
    assertEquals(world.condition("apps/wiki")?.status, "True");
    const said = JSON.stringify([world.logs, world.find(TailscaleTailnet.resource, "corp")]);
    assert(!said.includes("eyJ"), "no token shows");
  }));

function tokenRequests(world: TestWorld): number {
  return world.sent.filter(({ method, path }) => method === "POST" && path.endsWith("/token"))
    .length;
}

for (
  const [what, values] of Object.entries({
    "audience": { client_id: clientId, audience: "another" },
    "client": { client_id: "kOther", audience },
  })
) {
  Deno.test(`a Secret with another ${what} than was registered is refused, and noticed when it is mended`, () =>
    withWorld({}, async (world) => {
      await world.apply(...objects(), secret(values));
      world.start();
      const { message } = await world.untilCondition("corp", "CredentialsInvalid");
      assertStringIncludes(message, "client_id and audience in the Secret");
      await world.apply(FEDERATED);
      await world.untilCondition("corp", "True");
    }));
}

/** Runs an operator with other identity tokens until the tailnet is as wanted. */
async function untilSaid(world: TestWorld, wanted: string, identityToken: IdentityTokens) {
  const stop = new AbortController();
  const ended = world.create({ identityToken }).run(stop.signal);
  await world.untilCondition("corp", wanted);
  stop.abort();
  await ended;
}

Deno.test("an account that is another than was registered is refused", () =>
  withWorld({}, async (world) => {
    await world.apply(...objects(), object("v1", "ServiceAccount", { ...ACCOUNT, name: "other" }));
    const identityToken = () =>
      requestToken(world.client, { ...ACCOUNT, name: "other", audiences: [audience] });
    await untilSaid(world, "CredentialsInvalid", identityToken);
  }));

Deno.test("without the permission the condition says which, and a projected token serves instead", () =>
  withWorld({}, async (world) => {
    const file = await Deno.makeTempFile();
    await world.apply(...objects());
    const forbidden = { status: 403, body: { message: "serviceaccounts/token is forbidden" } };
    world.fail({ path: /\/token$/, times: 1_000, response: forbidden });
    world.start();
    const { message } = await world.untilCondition("corp", "IdentityTokenFailed");
    assertStringIncludes(message, "Let the operator create serviceaccounts/token");
    assertStringIncludes(message, "ServiceAccount tailscale/operator");
    assertEquals(exchanges(world), 0);
    await world.stop();
    await Deno.writeTextFile(
      file,
      await requestToken(world.client, { ...ACCOUNT, audiences: [audience] }),
    );
    const refusing = handlerTransport(() => Response.json({ code: 403 }, { status: 403 }));
    const identityToken = identityIn(new KubeClient(refusing), file);
    await untilSaid(world, "True", identityToken);
    await Deno.remove(file);
  }));

Deno.test("an account that is not there is named, and tried again", () =>
  withWorld({}, async (world) => {
    await world.apply(...everything(), FEDERATED);
    world.start();
    const { message } = await world.untilCondition("corp", "IdentityTokenFailed");
    assertStringIncludes(message, "--service-account");
    await world.apply(account());
    await world.until("it works", () => {
      world.clock.skip(10_000);
      return world.condition("corp")?.status === "True";
    });
  }));
