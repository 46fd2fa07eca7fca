import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { BackendRef, HTTPRoute, ReferenceGrant } from "../api/gateway_api.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { withDefaults } from "../api/tailscale_endpoints_defaults.ts";
import type { EndpointsView } from "./endpoints.ts";
import { parentGateways, resolveRoutes, routeProblems } from "./routes.ts";

type Entry = NonNullable<Parameters<typeof TailscaleEndpoints.create>[1]["endpoints"]>[number];

/** The view of an object `apps/<name>` with endpoints of these weights. */
function view(name: string, weights: readonly number[], rest: Partial<Entry> = {}): EndpointsView {
  const object = TailscaleEndpoints.create({ name, namespace: "apps" }, {
    tailnet: "corp",
    endpoints: weights.map((weight, index) => ({
      name: `${name}-${index}`,
      tailscaleIP: `100.64.0.${index + 1}`,
      port: 80,
      weight,
      ...rest,
    })),
  });
  const proxy = { address: "10.96.0.9", port: 1055 };
  return { object, spec: withDefaults(object.spec), devices: [], proxy };
}

type Ref = Partial<BackendRef>;

const ours = (ref: Ref): BackendRef => ({
  group: "gateway.tailscale.com",
  kind: "TailscaleEndpoints",
  name: "a",
  ...ref,
});

function route(rules: readonly (readonly Ref[])[], namespace = "apps"): HTTPRoute {
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name: "web", namespace },
    spec: {
      parentRefs: [{ name: "eg", namespace: "infra" }],
      rules: rules.map((refs) => ({ backendRefs: refs.map(ours) })),
    },
  };
}

const SERVICE: Ref = { group: "", kind: "Service", name: "web", port: 80 };

const VIEWS = [
  view("a", [1]),
  view("b", [1, 1, 1]),
  view("none", []),
  view("grpc", [1], { protocol: "GRPC" }),
];

function sources(
  routes: readonly HTTPRoute[],
  grants: readonly ReferenceGrant[] = [],
  views = VIEWS,
) {
  const byKey = new Map(views.map((found) => [`apps/${found.object.metadata.name}`, found]));
  return { routes, grants, endpoints: (key: string) => byKey.get(key) };
}

const resolve = (given: HTTPRoute, grants: readonly ReferenceGrant[] = [], views = VIEWS) =>
  resolveRoutes(sources([given], grants, views));

const weights = (given: HTTPRoute, views = VIEWS) =>
  resolve(given, [], views)[0]?.backend.priorities[0]?.map(({ name, weight }) => [name, weight]);

Deno.test("M188 every rule whose backends are all ours has a backend, under its index", () => {
  const found = resolve(route([[{}], [SERVICE], [], [{}, SERVICE], [{ name: "b" }]]));
  assertEquals(found.map(({ rule, route, gateways }) => [rule, route.name, gateways]), [
    [0, "web", ["infra/eg"]],
    [4, "web", ["infra/eg"]],
  ]);
});

Deno.test("a route without rules, and a rule without backends, are not ours", () => {
  const bare = route([]);
  assertEquals(resolve({ ...bare, spec: {} }), []);
  assertEquals(resolve(route([[]])), []);
});

Deno.test("references of other groups and kinds are not ours", () => {
  for (const ref of [{ group: "example.com" }, { kind: "TailscaleServices" }, SERVICE]) {
    assertEquals(resolve(route([[ref]])), []);
  }
});

Deno.test("one reference keeps the weights of its endpoints", () => {
  assertEquals(weights(route([[{ name: "c" }]]), [view("c", [3, 1_000_000])]), [
    ["c-0", 3],
    ["c-1", 1_000_000],
  ]);
});

Deno.test("references get their shares, however many endpoints each has", () => {
  const found = weights(route([[{ name: "a", weight: 1 }, { name: "b", weight: 3 }]]));
  assertEquals(found, [["a-0", 2500], ["b-0", 2500], ["b-1", 2500], ["b-2", 2500]]);
});

Deno.test("a reference of weight 0 gets nothing, and is no problem", () => {
  const given = route([[{ name: "a", weight: 0 }, { name: "b" }]]);
  assertEquals(weights(given)?.map(([name]) => name), ["b-0", "b-1", "b-2"]);
  assertEquals(routeProblems(given, "apps/a", sources([])), []);
  assertEquals(weights(route([[{ weight: 0 }]])), []);
});

Deno.test("the weights of a rule are at least 1, fit Envoy's 32 bits, and keep the shares", () => {
  const part = fc.record({
    weight: fc.integer({ min: 1, max: 1_000 }),
    own: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 8 }),
  });
  fc.assert(fc.property(fc.array(part, { minLength: 2, maxLength: 4 }), (parts) => {
    const views = parts.map(({ own }, index) => view(`v${index}`, own));
    const refs = parts.map(({ weight }, index) => ({ name: `v${index}`, weight }));
    const found = weights(route([refs]), views) ?? [];
    const sum = (of: (name: string) => boolean) =>
      found.reduce((all, [name, weight]) => of(String(name)) ? all + Number(weight) : all, 0);
    const total = sum(() => true);
    assert(found.every(([, weight]) => Number.isInteger(weight) && Number(weight) >= 1));
    assert(total < 2 ** 32);
    const all = parts.reduce((all, { weight }) => all + weight, 0);
    parts.forEach(({ weight }, index) => {
      const share = sum((name) => name.startsWith(`v${index}-`)) / total;
      assert(Math.abs(share - weight / all) < 0.01, `${share} is not ${weight / all}`);
    });
  }));
});

Deno.test("references that differ in protocol leave the first alone, and the other says so", () => {
  const given = route([[{ name: "grpc" }, { name: "a" }]]);
  const [found] = resolve(given);
  assertEquals(found?.backend.protocol, "HTTP2");
  assertEquals(found?.backend.priorities.flat().map(({ name }) => name), ["grpc-0"]);
  assertEquals(routeProblems(given, "apps/grpc", sources([])), []);
  assertEquals(routeProblems(given, "apps/a", sources([])).map(({ reason }) => reason), [
    "MixedSettings",
  ]);
});

Deno.test("a rule whose references lead nowhere has no upstreams, rather than what was before", () => {
  for (const ref of [{ name: "gone" }, { name: "none" }, { port: 9 }]) {
    assertEquals(resolve(route([[ref]]))[0]?.backend.priorities, [[]]);
  }
});

Deno.test("a reference that leads nowhere does not stop its fellows", () => {
  assertEquals(weights(route([[{ name: "gone" }, { name: "a" }]])), [["a-0", 1]]);
});

function grant(change: { from?: object; to?: object; namespace?: string } = {}): ReferenceGrant {
  const from = { group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop" };
  const to = { group: "gateway.tailscale.com", kind: "TailscaleEndpoints" };
  return {
    apiVersion: "gateway.networking.k8s.io/v1beta1",
    kind: "ReferenceGrant",
    metadata: { name: "g", namespace: change.namespace ?? "apps" },
    spec: { from: [{ ...from, ...change.from }], to: [{ ...to, ...change.to }] },
  };
}

const CROSS = route([[{ namespace: "apps" }]], "shop");
const permitted = (...grants: ReferenceGrant[]) =>
  resolve(CROSS, grants)[0]?.backend.priorities.flat().length === 1;

Deno.test("another namespace's object is used only with a ReferenceGrant there", () => {
  assertEquals([permitted(), permitted(grant())], [false, true]);
  assert(permitted(grant({ to: { name: "a" } })));
  assert(permitted(grant({ to: { name: "x" } }), grant()));
});

const WRONG_GRANTS = {
  "for another namespace": { from: { namespace: "other" } },
  "for another kind of route": { from: { kind: "TCPRoute" } },
  "for another group of routes": { from: { group: "example.com" } },
  "to another kind": { to: { kind: "TailscaleServices" } },
  "to another group": { to: { group: "" } },
  "to another object": { to: { name: "b" } },
  "in another namespace": { namespace: "shop" },
};
for (const [what, change] of Object.entries(WRONG_GRANTS)) {
  Deno.test(`a ReferenceGrant ${what} permits nothing`, () => {
    assertEquals(permitted(grant(change)), false);
    const [problem] = routeProblems(CROSS, "apps/a", sources([], [grant(change)]));
    assertEquals(problem?.reason, "RefNotPermitted");
  });
}

Deno.test("a rule that mixes our objects with others is said to be not supported", () => {
  const problems = routeProblems(route([[{}, SERVICE]]), "apps/a", sources([]));
  assertEquals(problems.map(({ reason }) => reason), ["NotSupported"]);
});

Deno.test("a route's problems are told to the object that they are about, and to no other", () => {
  const given = route([[{ name: "a", port: 9 }, { name: "b" }]]);
  const reasons = (name: string) =>
    routeProblems(given, `apps/${name}`, sources([])).map(({ reason }) => reason);
  assertEquals([reasons("a"), reasons("b"), reasons("c")], [["PortUnserved"], [], []]);
});

Deno.test("the Gateways of a route are its parents of that kind, each once", () => {
  const given = route([]);
  const parentRefs = [
    { name: "eg" },
    { name: "eg", sectionName: "https" },
    { name: "eg", namespace: "infra", group: "gateway.networking.k8s.io", kind: "Gateway" },
    { name: "mesh", group: "", kind: "Service" },
    { name: "other", group: "example.com", kind: "Gateway" },
  ];
  assertEquals(parentGateways({ ...given, spec: { parentRefs } }), ["apps/eg", "infra/eg"]);
});
