import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SECRET } from "../../api/resources.ts";
import { TailscaleTailnet, type TailscaleTailnetStatus } from "../../api/tailscale_tailnet.ts";
import { credential, device, endpoints, NOW, secret, tailnet } from "../testing/builders.ts";
import { assertReasonsListed, conditionOf, messageOf } from "../testing/conditions.ts";
import { describe } from "../testing/describe.ts";
import { Model } from "../testing/model.ts";
import type { TailnetState } from "../world.ts";
import { tailnetController } from "./controller.ts";
import { LEAST_PERIOD_MS, REST_PERIOD_MS, SCOPE_PERIOD_MS, WAITING_PERIOD_MS } from "./plan.ts";

const run = (model: Model) => model.run(tailnetController, "corp");
const plan = (model: Model) => model.plan(tailnetController, "corp");
const actions = (model: Model) => (plan(model)?.actions ?? []).map(describe);

/** The status that stands after all is done. */
function settled(model: Model): TailscaleTailnetStatus {
  run(model);
  const status = model.get<TailscaleTailnet>(TailscaleTailnet.resource, "corp")?.status;
  assert(status, "no status");
  assertReasonsListed(status, TailscaleTailnet.conditions);
  return status;
}

/** A tailnet at rest whose API knows these devices. */
function opened(...devices: Parameters<typeof device>[0][]): Model {
  const model = new Model(tailnet(), credential());
  model.devices = devices.map((name) => device(name));
  run(model);
  return model;
}

function change(model: Model, next: Partial<TailnetState>): void {
  const state = model.tailnets.get("corp");
  assert(state, "the tailnet is not open");
  model.tailnets.set("corp", { ...state, ...next });
}

/** The state Secret of a replica that has logged in. */
const replica = (name: string, nodeId: string) =>
  secret(name, { device_id: nodeId }, {
    labels: { "gateway.tailscale.com/tailnet": "corp" },
  });

Deno.test("M2 a new tailnet gets the finalizer, is opened and its devices are listed", () => {
  const model = new Model(tailnet("corp", {}, { finalizers: [] }), credential());
  assertEquals(run(model), [
    "apply TailscaleTailnet corp",
    "openTailnet corp",
    "listDevices corp",
  ]);
});

Deno.test("an apiURL that the API server takes and no client can use is named", () => {
  const model = new Model(tailnet(), credential());
  model.run(tailnetController, "corp"); // the status stands, with a Pending
  model.tailnets.clear();
  const message = 'apiURL: "https://999.1.1.1" is no http or https URL';
  model.failures.set("tailnet corp", { reason: "InvalidSpec", message });
  assertStringIncludes(messageOf(plan(model)?.status, "Ready"), message);
});

Deno.test("a new tailnet says Pending until it was tried, and an old one what it said", () => {
  const model = new Model(tailnet(), credential());
  assertEquals(conditionOf(plan(model)?.status, "Ready"), "False Pending");
  run(model);
  model.tailnets.clear(); // as after a restart
  assertEquals(plan(model)?.status, undefined);
});

Deno.test("why the finalizer cannot be put is what a new tailnet says", () => {
  const model = new Model(tailnet("corp", {}, { finalizers: [] }), credential());
  model.failures.set("tailnet corp", { reason: "InvalidSpec", message: "denied by policy" });
  assertEquals(conditionOf(plan(model)?.status, "Ready"), "False Pending");
  assertEquals(messageOf(plan(model)?.status, "Ready"), "denied by policy");
});

Deno.test("M6 M9 M61 a tailnet's name and suffix come from its own devices, never from shared-in ones", () => {
  const model = new Model(tailnet(), credential());
  model.devices = [
    device("alien", { isExternal: true, name: "alien.other.ts.net" }),
    device("edge"),
  ];
  const status = settled(model);
  assertEquals(status.tailnetInfo, {
    name: "tail1234.ts.net",
    magicDNSSuffix: "tail1234.ts.net",
  });
  assertEquals([status.deviceCount, status.connectedDevices], [2, 2]);
  assertEquals(conditionOf(status, "Authenticated"), "True Authenticated");
  assertEquals(conditionOf(status, "Ready"), "True Ready");
});

Deno.test("a tailnet without devices of its own has no name: nothing is guessed", () => {
  const model = new Model(tailnet(), credential());
  model.devices = [device("alien", { isExternal: true })];
  assertEquals(settled(model).tailnetInfo, undefined);
});

/** What tailscaled keeps of its logins, in a replica's state. */
const profiles = (networkProfile: unknown, key = "profile-1") => ({
  "_current-profile": "profile-1",
  _profiles: JSON.stringify({ "1": { ID: "1", Key: key, NetworkProfile: networkProfile } }),
});

for (
  const [what, spec, state, organization] of [
    ["the spec names it", { tailnet: "acme.example" }, {}, "acme.example"],
    ["a proxy's state tells it", {}, profiles({ DomainName: "acme.example" }), "acme.example"],
    ["the state is of an older tailscaled", {}, profiles(null), undefined],
    ["the state tells of another login", {}, profiles({ DomainName: "x" }, "profile-2"), undefined],
    ["the state is no JSON", {}, { "_current-profile": "p", _profiles: "{" }, undefined],
    ["nothing tells it", {}, {}, undefined],
  ] as const
) {
  Deno.test(`M7 the organisation where ${what} is ${organization ?? "absent"}`, () => {
    const model = new Model(tailnet("corp", spec), credential());
    model.devices = [device("edge")];
    const labels = { "gateway.tailscale.com/tailnet": "corp" };
    model.put(secret("intranet-egress-0", { device_id: "n-edge", ...state }, { labels }));
    assertEquals(settled(model).tailnetInfo?.organization, organization);
  });
}

Deno.test("M8 the client's id is told also of a credential that is refused, and no id of a tailnet is made up", () => {
  const model = opened("edge");
  change(model, { check: { at: NOW, failure: { reason: "CredentialsInvalid", message: "no" } } });
  const { credential: told, tailnetInfo } = settled(model);
  assertEquals(told, { clientID: "k1", secretResourceVersion: "7" });
  assertEquals(tailnetInfo?.tailnetID, undefined);
});

Deno.test("M60 the status names the client and the Secret's version, and never the secret", () => {
  const model = opened("edge");
  const status = settled(model);
  assertEquals(status.credential, {
    clientID: "k1",
    secretResourceVersion: "7",
    scopes: ["devices:core"],
    missingScopes: [],
  });
  assert(!JSON.stringify(status).includes("tskey"));
});

Deno.test("M3 M4 the Secret is looked for in the namespace that the spec names", () => {
  const model = new Model(tailnet("corp", { oauthSecretNamespace: "vault" }), credential());
  assertStringIncludes(messageOf(settled(model), "Ready"), "vault/oauth");
});

const REFUSED: readonly [string, ReturnType<typeof secret> | undefined, string, string][] = [
  ["there is no Secret", undefined, "SecretNotFound", "tailscale/oauth"],
  ["the Secret is empty", credential({}), "SecretInvalid", "client_id and no usable client_secret"],
  [
    "a key is blank",
    credential({ client_id: "k", client_secret: " \n" }),
    "SecretInvalid",
    "secret",
  ],
  [
    "a key holds no printable text",
    credential({ client_id: "k\u0007", client_secret: "s" }),
    "SecretInvalid",
    "client_id",
  ],
  [
    "a key is no base64",
    { ...credential(), data: { client_id: "%%%", client_secret: "czE=" } },
    "SecretInvalid",
    "client_id",
  ],
  [
    "the audience is blank",
    credential({ client_id: "k", audience: " " }),
    "SecretInvalid",
    "audience",
  ],
  [
    "there is an audience alone",
    credential({ audience: "aud" }),
    "SecretInvalid",
    "client_id",
  ],
];
for (const [what, oauth, reason, part] of REFUSED) {
  Deno.test(`a tailnet is not opened, and says ${reason}, where ${what}`, () => {
    const model = new Model(tailnet(), ...(oauth ? [oauth] : []));
    const status = settled(model);
    for (const type of ["Authenticated", "Ready"]) {
      assertEquals(conditionOf(status, type), `False ${reason}`);
    }
    assertStringIncludes(messageOf(status, "Ready"), part);
    assertEquals(model.tailnets.size, 0);
  });
}

Deno.test("a client secret beside an audience is used", () => {
  const values = { client_id: "k", client_secret: "s", audience: "a" };
  assertEquals(
    conditionOf(settled(new Model(tailnet(), credential(values))), "Ready"),
    "True Ready",
  );
});

Deno.test("M232 a Secret with an audience opens the tailnet with tokens for that audience, and no secret", () => {
  const model = new Model(tailnet(), credential({ client_id: "k", audience: "aud" }));
  const [open] = plan(model)?.actions ?? [];
  assert(open?.do === "openTailnet");
  assertEquals([open.connection.clientID, open.connection.proof], ["k", { audience: "aud" }]);
  model.put(credential({ client_id: "k", client_secret: "aud" }));
  const [other] = plan(model)?.actions ?? [];
  assert(other?.do === "openTailnet");
  assert(open.connection.fingerprint !== other.connection.fingerprint, "a change opens it anew");
});

Deno.test("M2 a tailnet that allows some namespaces and tags alone is as ready as any", () => {
  const allowedNamespaces = { from: "Selector" as const, selector: {} };
  const model = new Model(
    tailnet("corp", { allowedNamespaces, allowedTags: ["tag:a"] }),
    credential(),
  );
  assertEquals(conditionOf(settled(model), "Ready"), "True Ready");
});

Deno.test("a tailnet whose Secret goes is closed, and its last devices stay in the status", () => {
  const model = opened("edge");
  model.remove(SECRET, "tailscale/oauth");
  assertEquals(run(model), ["closeTailnet corp"]);
  const status = settled(model);
  assertEquals(conditionOf(status, "Authenticated"), "False SecretNotFound");
  assertEquals([status.deviceCount, status.tailnetInfo?.name], [1, "tail1234.ts.net"]);
});

for (
  const [what, next] of [
    ["another secret", { client_id: "k1", client_secret: "tskey-client-k1-y" }],
    ["another client", { client_id: "k2", client_secret: "tskey-client-k1-x" }],
  ] as const
) {
  Deno.test(`a Secret with ${what} opens the tailnet anew, and what was said stands until then`, () => {
    const model = opened("edge");
    model.put(credential(next));
    assertEquals([actions(model), plan(model)?.status], [["openTailnet corp"], undefined]);
  });
}

Deno.test("a Secret that was written with the same values opens nothing", () => {
  const model = opened("edge");
  model.put({ ...credential(), metadata: { ...credential().metadata, resourceVersion: "8" } });
  assertEquals(actions(model), []);
});

for (const reason of ["CredentialsInvalid", "TailnetNotFound", "Unavailable", "RateLimited"]) {
  Deno.test(`a check that fails with ${reason} is repeated when it is due, and no sooner`, () => {
    const model = opened("edge");
    const failure = { reason, message: "no", retryAt: NOW + 30_000 };
    change(model, { check: { at: NOW, failure } });
    const waiting = plan(model);
    assertEquals(conditionOf(waiting?.status, "Authenticated"), `False ${reason}`);
    assertEquals([actions(model), waiting?.wakeAt], [[], NOW + 30_000]);
    model.now = NOW + 30_000;
    assertEquals(actions(model), ["openTailnet corp"]);
  });
}

Deno.test("a failure that does not say when to come again is not repeated at once", () => {
  const model = opened("edge");
  change(model, { check: { at: NOW, failure: { reason: "Unavailable", message: "no" } } });
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + WAITING_PERIOD_MS]);
});

Deno.test("M231 missing scopes are all named, and looked for again once a minute", () => {
  const model = opened("edge");
  change(model, { check: { at: NOW, scopes: [], missing: ["auth_keys", "services"] } });
  const status = settled(model);
  assertEquals(conditionOf(status, "Authenticated"), "False ScopeMissing");
  assertStringIncludes(messageOf(status, "Ready"), "auth_keys, services");
  assertEquals(status.credential?.missingScopes, ["auth_keys", "services"]);
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + SCOPE_PERIOD_MS]);
  model.now = NOW + SCOPE_PERIOD_MS;
  assertEquals(actions(model), ["openTailnet corp"]);
});

Deno.test("a tailnet whose devices could never be listed is not ready, and is tried every 30 s", () => {
  const model = opened();
  const { fetchedAt: _at, ...state } = model.tailnets.get("corp")!;
  model.tailnets.set("corp", state);
  assertEquals(conditionOf(plan(model)?.status, "Ready"), "False Unavailable");
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + WAITING_PERIOD_MS]);
});

Deno.test("M98 a later list that fails leaves the tailnet ready, with what was known", () => {
  const model = opened("edge");
  change(model, { triedAt: NOW + REST_PERIOD_MS });
  const status = settled(model);
  assertEquals([conditionOf(status, "Ready"), status.deviceCount], ["True Ready", 1]);
});

Deno.test("M180 at rest the devices are listed every 10 minutes", () => {
  const model = opened("edge");
  model.put(replica("intranet-egress-0", "n-edge"));
  change(model, { soughtIds: new Set(["n-edge"]) });
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + REST_PERIOD_MS]);
  model.now = NOW + REST_PERIOD_MS;
  assertEquals(actions(model), ["listDevices corp"]);
});

Deno.test("M180 while a replica is not connected the devices are listed every 30 s", () => {
  const model = opened("edge");
  model.put(replica("intranet-egress-0", "n-gone"));
  change(model, { soughtIds: new Set(["n-gone"]) });
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + WAITING_PERIOD_MS]);
});

Deno.test("M180 the time to the next list is counted from the last try, failed or not", () => {
  const model = opened("edge");
  change(model, { triedAt: NOW + 60_000 });
  model.now = NOW + REST_PERIOD_MS;
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + 60_000 + REST_PERIOD_MS]);
});

Deno.test("M94 a device that has just logged in is looked for at once, and only once", () => {
  const model = opened("edge");
  model.put(replica("intranet-egress-0", "n-new"));
  model.now = NOW + 5 * WAITING_PERIOD_MS;
  assertEquals(run(model), ["listDevices corp"]);
  assertEquals(model.tailnets.get("corp")?.soughtIds, new Set(["n-new"]));
});

Deno.test("new devices that come one after the other are not listed more often than every 2 s", () => {
  const model = opened("edge");
  model.put(replica("intranet-egress-0", "n-new"));
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + LEAST_PERIOD_MS]);
});

Deno.test("a tailnet that nobody uses is closed and let go", () => {
  const model = opened("edge");
  model.put(tailnet("corp", {}, { deletionTimestamp: "2026-03-01T12:00:00Z" }));
  assertEquals(run(model), ["closeTailnet corp", "apply TailscaleTailnet corp"]);
  assertEquals(model.get(TailscaleTailnet.resource, "corp"), undefined);
});

Deno.test("a tailnet that objects still name waits for them, open and with fresh devices", () => {
  const model = opened("edge");
  model.put(endpoints(), tailnet("corp", {}, { deletionTimestamp: "2026-03-01T12:00:00Z" }));
  const status = settled(model);
  assertEquals(conditionOf(status, "Ready"), "False InUse");
  assertEquals(conditionOf(status, "Authenticated"), "True Authenticated");
  assertEquals([status.usedBy, plan(model)?.wakeAt], [1, NOW + REST_PERIOD_MS]);
  model.tailnets.clear(); // as after a restart
  assertEquals([actions(model), plan(model)?.status], [["openTailnet corp"], undefined]);
});

Deno.test("a tailnet in use whose credential is refused keeps that apart from InUse", () => {
  const model = opened("edge");
  model.put(endpoints(), tailnet("corp", {}, { deletionTimestamp: "2026-03-01T12:00:00Z" }));
  model.remove(SECRET, "tailscale/oauth");
  const status = settled(model);
  assertEquals(conditionOf(status, "Authenticated"), "False SecretNotFound");
  assertEquals(conditionOf(status, "Ready"), "False InUse");
  assertEquals(model.tailnets.has("corp"), true, "its users still need it");
});

Deno.test("a tailnet that went without us is closed", () => {
  const model = opened("edge");
  model.remove(TailscaleTailnet.resource, "corp");
  assertEquals(run(model), ["closeTailnet corp"]);
  assertEquals(plan(model), undefined);
});

Deno.test("the controller is woken for the Secret that a tailnet names, and for replicas' state", () => {
  const model = new Model(tailnet(), credential());
  const keys = tailnetController.mappings.find(({ type }) => type === SECRET)!.keys;
  assertEquals(keys(credential(), model.world), ["corp"]);
  assertEquals(keys(replica("intranet-egress-0", "n"), model.world), ["corp"]);
  assertEquals(keys(secret("other", {}), model.world), []);
});

Deno.test("figure 13: a clock that is set back makes nobody wait: the devices are listed at once", () => {
  const model = opened("edge");
  assertEquals(actions(model), []);
  model.now = NOW - 3_600_000;
  assertEquals(actions(model), ["listDevices corp"]);
});
