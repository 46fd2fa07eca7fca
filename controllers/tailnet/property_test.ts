import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { deepEqual } from "../../core/equal.ts";
import { timestamp } from "../../core/conditions.ts";
import { SECRET } from "../../api/resources.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import { credential, device, endpoints, NOW, secret, tailnet } from "../testing/builders.ts";
import { assertReasonsListed } from "../testing/conditions.ts";
import { describe } from "../testing/describe.ts";
import { Model } from "../testing/model.ts";
import type { TailnetState } from "../world.ts";
import { tailnetController } from "./controller.ts";
import { LEAST_PERIOD_MS } from "./plan.ts";

const time = fc.integer({ min: NOW - 3_600_000, max: NOW });
const check: fc.Arbitrary<TailnetState["check"]> = fc.oneof(
  fc.constant(undefined),
  fc.record({
    at: time,
    scopes: fc.constant([]),
    missing: fc.constantFrom([], ["services"], ["devices:core", "auth_keys"]),
  }),
  fc.record({
    at: time,
    failure: fc.record({
      reason: fc.constantFrom("CredentialsInvalid", "Unavailable", "RateLimited", "ScopeMissing"),
      message: fc.string(),
    }),
  }),
  fc.record({
    at: time,
    failure: fc.record({
      reason: fc.constantFrom("Unavailable", "TailnetNotFound"),
      message: fc.string(),
      retryAt: fc.integer({ min: NOW - 60_000, max: NOW + 60_000 }),
    }),
  }),
);

const odd = fc.record({
  name: fc.constantFrom("", ".", "edge", "edge.tail1234.ts.net"),
  addresses: fc.constantFrom<string[][]>([], ["100.64.0.1"], ["x"]),
  connectedToControl: fc.boolean(),
  isExternal: fc.boolean(),
});

/** A world in some state. */
const world = fc.record({
  check,
  fetched: fc.boolean(),
  tried: fc.option(time, { nil: undefined }),
  devices: fc.array(odd, { maxLength: 3 }),
  values: fc.dictionary(fc.constantFrom("client_id", "client_secret", "audience"), fc.string()),
  hasSecret: fc.boolean(),
  same: fc.boolean(),
  used: fc.boolean(),
  deleted: fc.boolean(),
  finalizer: fc.boolean(),
  deviceId: fc.string(),
}).map((w) => {
  const meta = {
    ...(w.finalizer ? {} : { finalizers: w.deleted ? ["x/y"] : [] }),
    ...(w.deleted ? { deletionTimestamp: timestamp(NOW) } : {}),
  };
  const model = new Model(tailnet("corp"), credential());
  model.run(tailnetController, "corp");
  model.put(tailnet("corp", {}, meta));
  if (!w.same) model.put(credential(w.values));
  if (!w.hasSecret) model.remove(SECRET, "tailscale/oauth");
  if (w.used) model.put(endpoints());
  const labels = { "gateway.tailscale.com/tailnet": "corp" };
  model.put(secret("intranet-egress-0", { device_id: w.deviceId }, { labels }));
  model.devices = w.devices.map((rest) => device("edge", rest));
  const { fingerprint, clientID } = model.tailnets.get("corp")!;
  model.tailnets.set("corp", {
    fingerprint,
    clientID,
    devices: w.fetched ? model.devices : [],
    soughtIds: new Set(),
    ...(w.check ? { check: w.check } : {}),
    ...(w.fetched ? { fetchedAt: NOW - 1 } : {}),
    ...(w.tried === undefined ? {} : { triedAt: w.tried }),
  });
  return model;
});

Deno.test("in whatever state a tailnet is, planning and acting come to rest, and say the same again", () => {
  fc.assert(fc.property(world, (model) => {
    model.run(tailnetController, "corp");
    const [first, second] = [0, 1].map(() => model.plan(tailnetController, "corp"));
    assertEquals(first?.actions ?? [], []);
    assert(deepEqual(first?.status, second?.status));
    assertReasonsListed(first?.status, TailscaleTailnet.conditions);
    const kept = model.get<TailscaleTailnet>(TailscaleTailnet.resource, "corp");
    if (first?.status !== undefined) assert(deepEqual(kept?.status, first.status));
  }));
});

Deno.test("in whatever state a tailnet is, its API is not asked hot over an hour of wakes", () => {
  fc.assert(fc.property(world, (model) => {
    let calls = 0;
    const end = model.now + 3_600_000;
    for (let wakes = 0; model.now < end; wakes++) {
      assert(wakes < 200, "woken too often");
      calls += model.run(tailnetController, "corp").filter((done) =>
        /Devices|open/.test(done)
      ).length;
      const wakeAt = model.plan(tailnetController, "corp")?.wakeAt;
      if (wakeAt === undefined) break;
      assert(wakeAt >= model.now + Math.min(LEAST_PERIOD_MS, 1), "a wake that is due already");
      model.now = wakeAt;
    }
    assert(calls <= 125, `${calls} calls`);
  }));
});

Deno.test("in whatever state a tailnet is, a plan does at most one thing with its API", () => {
  fc.assert(fc.property(world, (model) => {
    const done = (model.plan(tailnetController, "corp")?.actions ?? []).map(describe);
    assert(done.filter((action) => !action.startsWith("apply")).length <= 1, done.join());
  }));
});
