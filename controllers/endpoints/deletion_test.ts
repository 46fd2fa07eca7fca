import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { encodeBase64 } from "../../core/base64.ts";
import { timestamp } from "../../core/conditions.ts";
import type { StatefulSet } from "../../api/core_objects.ts";
import { POD, SECRET, STATEFUL_SET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import { device, egress, endpoints, NOW, refused } from "../testing/builders.ts";
import { messageOf } from "../testing/conditions.ts";
import type { Model } from "../testing/model.ts";
import type { TailnetState } from "../world.ts";
import {
  actions,
  atRest,
  condition,
  fresh,
  know,
  live,
  plan,
  remove,
  run,
  secretOf,
  status,
} from "./testing.ts";

const finish = (model: Model) => run(model, 10);

Deno.test("M105 an object goes in order: proxies, devices and keys, Secrets, the rest, itself", () => {
  const model = atRest();
  remove(model);
  assertEquals(actions(model), ["delete StatefulSet intranet-egress"]);
  assertEquals(finish(model), [
    "delete StatefulSet intranet-egress",
    "deleteDevice n-intranet-egress-0",
    "delete Secret intranet-egress-0",
    "delete Secret intranet-egress-0-config",
    "deleteDevice n-intranet-egress-1",
    "delete Secret intranet-egress-1",
    "delete Secret intranet-egress-1-config",
    "delete Service intranet-egress-svc",
    "delete NetworkPolicy intranet-egress",
    "delete RoleBinding intranet-egress",
    "delete Role intranet-egress",
    "delete ServiceAccount intranet-egress",
    "apply TailscaleEndpoints intranet",
  ]);
  assertEquals(model.devices, []);
  const left = [SECRET, POD, STATEFUL_SET, TailscaleEndpoints.resource].flatMap((t) =>
    model.all(t)
  );
  assertEquals(left, []);
});

Deno.test("devices are not removed while a pod still runs", () => {
  const model = atRest();
  remove(model);
  model.remove(STATEFUL_SET, "apps/intranet-egress");
  assertEquals(actions(model), []);
  assertEquals(condition(model, "Ready"), "False Deleting");
});

Deno.test("a StatefulSet that goes already is not deleted again", () => {
  const model = atRest();
  remove(model);
  const live = model.get<StatefulSet>(STATEFUL_SET, "apps/intranet-egress")!;
  model.put(
    { ...live, metadata: { ...live.metadata, deletionTimestamp: timestamp(NOW) } } as StatefulSet,
  );
  assertEquals(actions(model), []);
});

Deno.test("keys that were never used are revoked with the object", () => {
  const model = fresh();
  run(model);
  remove(model);
  finish(model);
  assertEquals([...model.keys.values()].map(({ revoked }) => revoked), [true, true]);
});

/** An object that goes while its tailnet cannot be used; its proxies have stopped. */
function orphaned(at = NOW, state: TailnetState = refused()): Model {
  const model = atRest();
  remove(model, at);
  model.tailnets.set("corp", state);
  return model;
}

Deno.test("an object waits five minutes for a tailnet that cannot be used", () => {
  const model = orphaned();
  assertEquals(run(model), ["delete StatefulSet intranet-egress"]);
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + 300_000]);
  assertStringIncludes(messageOf(status(model), "Ready"), "TailscaleTailnet corp");
  know(model);
  finish(model);
  assertEquals([model.devices, model.events], [[], []]);
});

Deno.test("after five minutes an object goes without its tailnet, and says what is left behind", () => {
  const model = orphaned();
  model.now += 300_000;
  finish(model);
  assertEquals(model.get(TailscaleEndpoints.resource, "apps/intranet"), undefined);
  assertEquals(model.events.length, 1);
  assertStringIncludes(model.events[0] ?? "", "Warning DevicesOrphaned");
  for (const name of ["n-intranet-egress-0", "n-intranet-egress-1"]) {
    assertStringIncludes(model.events[0] ?? "", name);
  }
});

Deno.test("an object whose tailnet object is gone goes after five minutes too", () => {
  const model = orphaned();
  model.remove(TailscaleTailnet.resource, "corp");
  model.tailnets.clear();
  run(model);
  assertEquals(model.events, []);
  model.now += 300_000;
  finish(model);
  assertEquals(model.events.length, 1);
});

Deno.test("five minutes are counted from when the tailnet began to fail, if that is later", () => {
  const model = orphaned(NOW - 3_600_000, refused("Unavailable", NOW - 60_000));
  run(model);
  assertEquals([actions(model), plan(model)?.wakeAt], [[], NOW + 240_000]);
});

Deno.test("after a restart nothing is left behind before the tailnet was tried", () => {
  const model = orphaned(NOW - 3_600_000);
  model.tailnets.clear();
  model.unknownTailnets.add("corp");
  assertEquals(run(model), ["delete StatefulSet intranet-egress"]);
  assertEquals(plan(model), { actions: [] });
});

Deno.test("a key that waits is not left in a tailnet that cannot be used, if it comes back in time", () => {
  const model = fresh();
  run(model);
  remove(model);
  model.tailnets.set("corp", refused());
  run(model);
  assert(model.get(SECRET, "apps/intranet-egress-0-config"));
  know(model);
  finish(model);
  assertEquals([...model.keys.values()].map(({ revoked }) => revoked), [true, true]);
});

Deno.test("an object that was never acted on goes at once", () => {
  const model = fresh({ ports: [{ port: 80 }] });
  remove(model);
  assertEquals(finish(model), ["apply TailscaleEndpoints intranet"]);
});

Deno.test("an object that goes without our finalizer is left to those who hold it", () => {
  const model = fresh();
  model.put(endpoints("intranet", {}, { finalizers: ["x/y"], deletionTimestamp: timestamp(NOW) }));
  assertEquals(plan(model), { actions: [] });
});

Deno.test("devices of both ids that a state Secret names are removed", () => {
  const model = atRest({ proxy: egress(1) });
  const state = secretOf(model, "intranet-egress-0");
  const profile = encodeBase64(JSON.stringify({ Config: { NodeID: "n-newer" } }));
  const data = { ...state.data, "_current-profile": encodeBase64("p"), p: profile };
  model.put({ ...state, data });
  model.devices.push(device("newer"));
  remove(model);
  finish(model);
  assertEquals(model.devices, []);
});

Deno.test("a namespace that takes the Secrets first leaves no device behind", () => {
  const model = atRest();
  for (const secret of model.all(SECRET)) model.remove(SECRET, `apps/${secret.metadata.name}`);
  // Before the object itself is marked, its status is written once more.
  model.put({ ...live(model), status: status(model) });
  remove(model);
  const done = finish(model);
  assertEquals(done.filter((action) => action.startsWith("deleteDevice")).sort(), [
    "deleteDevice n-intranet-egress-0",
    "deleteDevice n-intranet-egress-1",
  ]);
  assertEquals(model.devices, []);
  assertEquals(model.all(TailscaleEndpoints.resource), []);
});

Deno.test("a replica that lost its state and logs in anew leaves its old device to nobody", () => {
  const model = atRest();
  model.remove(SECRET, "apps/intranet-egress-0");
  run(model, 10);
  assertEquals(model.devices.map(({ nodeId }) => nodeId), [
    "n-intranet-egress-0",
    "n-intranet-egress-1",
  ], "the pod may still be that device");
  model.runPods().logIn();
  know(model);
  run(model, 10);
  assertEquals(model.devices.map(({ nodeId }) => nodeId), [
    "n-intranet-egress-1",
    "n-intranet-egress-0-anew",
  ]);
  assertEquals(actions(model), []);
});
