import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { timestamp } from "../../core/conditions.ts";
import type { KubeObject } from "../../core/object.ts";
import { admit } from "../../api/admission.ts";
import { exampleObject } from "../../api/reference.ts";
import { kindNamed, KINDS } from "../../api/registry.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { TailscaleRoutePolicy } from "../../api/tailscale_route_policy.ts";
import { TailscaleServices } from "../../api/tailscale_services.ts";
import { CONTROLLERS } from "../registry.ts";
import { NOW } from "../testing/builders.ts";
import { assertReasonsListed, conditionOf, messageOf } from "../testing/conditions.ts";
import { Model } from "../testing/model.ts";

/** Those that no controller acts on yet. */
const UNSUPPORTED = CONTROLLERS.filter(({ onlyStatus }) => onlyStatus);

/** What the kind's controller says of its object in the model, once it is written. */
function said(model: Model, object: KubeObject): unknown {
  const controller = CONTROLLERS.find(({ type }) => type.kind === object.kind);
  assert(controller, object.kind);
  const { metadata: { name, namespace } } = object;
  const observed = controller.observe(model.world, `${namespace}/${name}`);
  assert(observed, `${name} is not seen`);
  const plan = controller.plan(observed, model.now);
  assertEquals(plan.actions, []);
  assertEquals(plan.wakeAt, undefined);
  const seen = model.world.objects.get<KubeObject>(controller.type, `${namespace}/${name}`);
  model.put({ ...seen as KubeObject, status: plan.status });
  return plan.status;
}

function example(kind: string, generation = 1): KubeObject {
  const definition = kindNamed(kind);
  assert(definition, kind);
  const object = exampleObject(definition);
  return { ...object, metadata: { ...object.metadata, uid: "uid", generation } };
}

Deno.test("M249 every kind has a controller, but the one that Envoy Gateway answers for", () => {
  const controlled = new Set(CONTROLLERS.map(({ type }) => type));
  const left = KINDS.filter(({ resource }) => !controlled.has(resource)).map(({ kind }) => kind);
  assertEquals(left, [TailscaleGatewayRevision.kind]);
});

for (const kind of ["TailscaleServices", "TailscaleGateway", "TailscaleProxyGroup"]) {
  Deno.test(`${kind} is neither accepted nor ready: NotSupported, in words of its closed list`, () => {
    const status = said(new Model(example(kind)), example(kind));
    assertEquals(conditionOf(status, "Accepted"), "False NotSupported");
    assertEquals(conditionOf(status, "Ready"), "False NotSupported");
    assertStringIncludes(messageOf(status, "Ready"), `${kind} is not supported yet`);
    assertReasonsListed(status, kindNamed(kind)?.conditions ?? {});
  });
}

Deno.test("what is said of an object that is not supported fits its own schema", () => {
  for (const { type: { kind } } of UNSUPPORTED) {
    const status = said(new Model(example(kind)), example(kind));
    const admission = admit({ ...example(kind), status });
    assert("object" in admission, `${kind}: ${JSON.stringify(admission)}`);
    assertEquals(admission.object.status, status);
  }
});

Deno.test("an object that is not supported is told so once, and again for a new generation", () => {
  const model = new Model(example("TailscaleServices"));
  const first = said(model, example("TailscaleServices"));
  model.now += 600_000;
  assertEquals(said(model, example("TailscaleServices")), first);
  model.put({ ...example("TailscaleServices", 2), status: first });
  const { conditions } = said(model, example("TailscaleServices")) as {
    conditions: { observedGeneration: number; lastTransitionTime: string }[];
  };
  assertEquals(conditions.map(({ observedGeneration }) => observedGeneration), [2, 2]);
  assertEquals(conditions.map((c) => c.lastTransitionTime), [timestamp(NOW), timestamp(NOW)]);
});

const target = (name: string, rest: object = {}) => ({
  group: "gateway.networking.k8s.io",
  kind: "HTTPRoute",
  name,
  ...rest,
});

function policy(...targetRefs: ReturnType<typeof target>[]) {
  return TailscaleRoutePolicy.create(
    { name: "admins", namespace: "apps", uid: "uid", generation: 1 },
    { targetRefs },
  );
}

Deno.test("M54 a TailscaleRoutePolicy says NotSupported for each of its targets", () => {
  const object = policy(target("web"), target("api", { sectionName: "rule" }));
  const status = said(new Model(object), object) as TailscaleRoutePolicy["status"];
  assertEquals(status?.ancestors?.map(({ ancestorRef }) => ancestorRef), [
    { ...target("web"), namespace: "apps" },
    { ...target("api", { sectionName: "rule" }), namespace: "apps" },
  ]);
  for (const ancestor of status?.ancestors ?? []) {
    assertEquals(ancestor.controllerName, "gateway.tailscale.com/controller");
    assertEquals(conditionOf(ancestor, "Accepted"), "False NotSupported");
    assertEquals(conditionOf(ancestor, "Programmed"), "False NotSupported");
    assertReasonsListed(ancestor, TailscaleRoutePolicy.conditions);
  }
});

Deno.test("what others say of a TailscaleRoutePolicy stays, and there are 16 entries at most", () => {
  const object = policy(...Array.from({ length: 16 }, (_, i) => target(`web-${i}`)));
  const foreign = {
    ancestorRef: target("web-0"),
    controllerName: "example.com/controller",
    conditions: [],
  };
  const model = new Model({ ...object, status: { ancestors: [foreign] } });
  const first = said(model, object) as { ancestors: unknown[] };
  assertEquals(first.ancestors.length, 16);
  assertEquals(first.ancestors[0], foreign);
  model.now += 600_000;
  assertEquals(said(model, object), first);
});

Deno.test("an object that is gone is nobody's business", () => {
  const gone = UNSUPPORTED.find(({ type }) => type === TailscaleServices.resource);
  assertEquals(gone?.observe(new Model().world, "apps/web"), undefined);
});
