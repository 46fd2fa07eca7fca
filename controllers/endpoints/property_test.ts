import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { deepEqual } from "../../core/equal.ts";
import { timestamp } from "../../core/conditions.ts";
import type { ResourceType } from "../../core/object.ts";
import type { Secret } from "../../api/core_objects.ts";
import {
  NETWORK_POLICY,
  POD,
  ROLE,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  STATEFUL_SET,
} from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { device, egress, endpoints, NOW, refused, route, tailnet } from "../testing/builders.ts";
import { usable } from "../testing/builders.ts";
import { assertReasonsListed } from "../testing/conditions.ts";
import { describe } from "../testing/describe.ts";
import { configOf, Model } from "../testing/model.ts";
import { actions, know, plan, run, type Spec } from "./testing.ts";

/** How many rounds of planning and acting a world may take to come to rest. */
const ROUNDS = 6;

const spec: fc.Arbitrary<Spec> = fc.record({
  tags: fc.constantFrom(["tag:a"], ["tag:a", "tag:b"]),
  proxy: fc.record({ replicas: fc.nat(3), acceptRoutes: fc.boolean(), ephemeral: fc.boolean() })
    .map(({ replicas, ...rest }) => egress(replicas, rest)),
  endpoints: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom("a", "b", "c"),
      tailscaleIP: fc.constantFrom("100.64.0.9", "10.0.0.1", "fd7a:115c:a1e0::9"),
      port: fc.constantFrom(80, 81),
      protocol: fc.constantFrom("HTTP" as const, "GRPC" as const, "TCP" as const),
    }),
    { selector: ({ name }) => name },
  ),
});

const TYPES: readonly ResourceType[] = [
  NETWORK_POLICY,
  POD,
  ROLE,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  STATEFUL_SET,
];

/** Things that can happen to a world. */
type Happening =
  | { readonly at: "remove"; readonly type: number; readonly index: number }
  | { readonly at: "corrupt"; readonly index: number; readonly data: Record<string, string> }
  | { readonly at: "pods" | "login" | "know" | "plan" | "forget" | "refuse" | "day" }
  | { readonly at: "edit"; readonly spec: Spec };

const oddText = fc.oneof(
  fc.string(),
  fc.constantFrom("", "e30=", "bnVsbA==", "JSUl", "%%%", "cHJvZmlsZQ=="),
);
const oddData = fc.dictionary(
  fc.constantFrom("device_id", "_current-profile", "profile", "pod_uid", "cap-106.hujson", "x"),
  oddText,
);

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    at: fc.constant("remove" as const),
    type: fc.nat(TYPES.length - 1),
    index: fc.nat(5),
  }),
  fc.record({ at: fc.constant("corrupt" as const), index: fc.nat(7), data: oddData }),
  fc.record({
    at: fc.constantFrom<("pods" | "login" | "know" | "plan" | "forget" | "refuse" | "day")[]>(
      "pods",
      "login",
      "know",
      "plan",
      "forget",
      "refuse",
      "day",
    ),
  }),
  fc.record({ at: fc.constant("edit" as const), spec }),
);

function happen(model: Model, what: Happening): void {
  switch (what.at) {
    case "remove": {
      const type = TYPES[what.type]!;
      const found = model.all(type)[what.index];
      if (found) model.remove(type, `apps/${found.metadata.name}`);
      return;
    }
    case "corrupt": {
      const found = model.all<Secret>(SECRET)[what.index];
      if (found) model.put({ ...found, data: { ...found.data, ...what.data } });
      return;
    }
    case "edit": {
      const live = model.get<TailscaleEndpoints>(TailscaleEndpoints.resource, "apps/intranet");
      if (live) model.put({ ...live, spec: endpoints("intranet", what.spec).spec });
      return;
    }
    case "plan":
      for (const action of plan(model)?.actions.slice(0, 4) ?? []) model.carryOut(action);
      return;
    case "pods":
      return void model.runPods();
    case "login":
      return void model.logIn();
    case "know":
      return know(model);
    case "forget":
      return void model.tailnets.delete("corp");
    case "refuse":
      return void model.tailnets.set("corp", refused());
    case "day":
      model.now += 40 * 24 * 3_600_000;
  }
}

/** A world to which all that has happened. */
const world = fc.record({
  spec,
  happenings: fc.array(happening, { maxLength: 14 }),
  deleted: fc.boolean(),
  usable: fc.boolean(),
}).map(({ spec, happenings, deleted, usable: isUsable }) => {
  const model = new Model(tailnet(), endpoints("intranet", spec), route("web", [{}]));
  model.tailnets.set("corp", usable([device("odd", { addresses: [], name: "" })]));
  for (const what of happenings) happen(model, what);
  if (isUsable) know(model);
  const live = model.get<TailscaleEndpoints>(TailscaleEndpoints.resource, "apps/intranet");
  if (live && deleted) {
    const deletionTimestamp = timestamp(NOW);
    model.put({ ...live, metadata: { ...live.metadata, deletionTimestamp } });
  }
  return model;
});

Deno.test("whatever happened, planning and acting come to rest, and then say the same again", () => {
  fc.assert(fc.property(world, (model) => {
    run(model, ROUNDS);
    assertEquals(actions(model), []);
    const [first, second] = [plan(model), plan(model)];
    assert(deepEqual(first, second));
    assertReasonsListed(first?.status, TailscaleEndpoints.conditions);
    // The status that was kept is what is said of the world that it is part of.
    const kept = model.get<TailscaleEndpoints>(TailscaleEndpoints.resource, "apps/intranet");
    if (first?.status !== undefined) assert(deepEqual(kept?.status, first.status));
  }));
});

Deno.test("whatever happened, a proxy that runs and a tailnet that answers end with a login and no key", () => {
  fc.assert(fc.property(world, (model) => {
    know(model);
    run(model, ROUNDS);
    model.runPods().logIn();
    know(model);
    run(model, ROUNDS);
    for (const secret of model.all<Secret>(SECRET)) {
      assertEquals(configOf(secret)?.AuthKey, undefined, secret.metadata.name);
    }
  }));
});

Deno.test("whatever happened, no plan runs a StatefulSet before each replica has a configuration", () => {
  fc.assert(fc.property(world, (model) => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const action of plan(model)?.actions ?? []) {
        if (action.do === "apply" && action.type === STATEFUL_SET) {
          const { replicas } = (action.object as { spec?: { replicas: number } }).spec ?? {};
          for (let index = 0; index < (replicas ?? 0); index++) {
            assert(model.get(SECRET, `apps/intranet-egress-${index}-config`), describe(action));
          }
        }
        model.carryOut(action);
      }
    }
  }));
});

Deno.test("whatever happened, an object that is deleted goes whole, with its devices and keys", () => {
  fc.assert(fc.property(world, (model) => {
    const live = model.get<TailscaleEndpoints>(TailscaleEndpoints.resource, "apps/intranet");
    if (!live) return;
    // What a corrupt Secret no longer tells, or a removed one did, nobody can know.
    const told = new Set(
      model.all<Secret>(SECRET).flatMap(({ metadata }) =>
        metadata.annotations?.["gateway.tailscale.com/auth-key-id"] ?? []
      ),
    );
    const deletionTimestamp = timestamp(NOW);
    model.put({ ...live, metadata: { ...live.metadata, deletionTimestamp } });
    know(model);
    run(model, 12);
    for (const type of [...TYPES, TailscaleEndpoints.resource]) assertEquals(model.all(type), []);
    for (const id of told) assert(model.keys.get(id)?.revoked ?? true, id);
  }));
});
