import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { TailnetDevice } from "../core/device.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { withDefaults } from "../api/tailscale_endpoints_defaults.ts";
import {
  type BackendResolution,
  type EndpointsView,
  preferredAddress,
  resolveBackend,
  resolveEntries,
} from "./endpoints.ts";

type Entry = NonNullable<Parameters<typeof TailscaleEndpoints.create>[1]["endpoints"]>[number];

const PROXY = { address: "10.96.0.9", port: 1055 };

function device(name: string, addresses: string[]): TailnetDevice {
  return {
    nodeId: `n-${name}`,
    name: `${name}.tail1234.ts.net`,
    hostname: name,
    addresses,
    tags: [],
    connectedToControl: true,
    isExternal: false,
  };
}

function view(entries: readonly Entry[], rest: Partial<EndpointsView> = {}): EndpointsView {
  const object = TailscaleEndpoints.create({ name: "intranet", namespace: "apps" }, {
    tailnet: "corp",
    endpoints: [...entries],
  });
  return {
    object,
    spec: withDefaults(object.spec),
    devices: [device("api", ["fd7a:115c:a1e0::7", "100.64.0.7"])],
    proxy: PROXY,
    ...rest,
  };
}

const byIP = (name: string, rest: Partial<Entry> = {}): Entry => ({
  name,
  tailscaleIP: "100.64.0.10",
  port: 8080,
  ...rest,
});
const byName = (name: string, rest: Partial<Entry> = {}): Entry => ({
  name,
  tailscaleFQDN: "api.tail1234.ts.net",
  port: 8080,
  ...rest,
});

function backendOf(resolution: BackendResolution) {
  assert("backend" in resolution, JSON.stringify(resolution));
  return resolution.backend;
}

function reasonOf(resolution: BackendResolution): string {
  assert("problem" in resolution, JSON.stringify(resolution));
  return resolution.problem.reason;
}

const upstreams = (entries: readonly Entry[], rest: Partial<EndpointsView> = {}, port?: number) =>
  backendOf(resolveBackend(view(entries, rest), port)).priorities.flat();

Deno.test("M20 an endpoint by address is dialled there, through the egress proxy", () => {
  assertEquals(upstreams([byIP("a", { weight: 3 })]), [
    { name: "a", address: "100.64.0.10", port: 8080, proxy: PROXY, weight: 3 },
  ]);
});

Deno.test("M20 an endpoint by name is dialled at the device's address, with the name as Host", () => {
  assertEquals(upstreams([byName("a")]), [{
    name: "a",
    address: "100.64.0.7",
    port: 8080,
    proxy: PROXY,
    hostname: "api.tail1234.ts.net",
    weight: 1,
  }]);
});

Deno.test("M20 with both, the address is dialled and the name is Host", () => {
  const [found] = upstreams([byName("a", { tailscaleIP: "100.64.0.99" })]);
  assertEquals([found?.address, found?.hostname], ["100.64.0.99", "api.tail1234.ts.net"]);
});

Deno.test("a name is found whatever its case and trailing dot", () => {
  const shown = { ...device("api", ["100.64.0.7"]), name: "API.tail1234.ts.net" };
  assertEquals(upstreams([byName("a")], { devices: [shown] }).length, 1);
});

Deno.test("a device is reached by IPv4 first, else by what it has", () => {
  assertEquals(preferredAddress(device("a", ["fd7a::1", "100.64.0.1"])), "100.64.0.1");
  assertEquals(preferredAddress(device("a", ["fd7a::1"])), "fd7a::1");
  assertEquals(preferredAddress(device("a", [])), undefined);
});

const LOST: readonly [string, Entry, Partial<EndpointsView>, string][] = [
  ["outside the tailnet", byIP("a", { tailscaleIP: "10.0.0.1" }), {}, "AddressNotRouted"],
  ["just past the range", byIP("a", { tailscaleIP: "100.128.0.0" }), {}, "AddressNotRouted"],
  ["of no device", byName("a", { tailscaleFQDN: "x.tail1234.ts.net" }), {}, "HostNotFound"],
  ["of another tailnet", byName("a", { tailscaleFQDN: "api.other.ts.net" }), {}, "HostNotFound"],
  ["of a device without address", byName("a"), { devices: [device("api", [])] }, "HostNotFound"],
  [
    "outside the cluster's reach",
    { name: "a", externalTarget: "web.apps.svc:80" },
    {},
    "NotSupported",
  ],
];
for (const [what, entry, rest, reason] of LOST) {
  Deno.test(`M20 a host ${what} is ${reason}, and the other endpoints stay`, () => {
    const [bad, good] = resolveEntries(view([entry, byIP("b")], rest));
    assert(bad && "problem" in bad && good && "address" in good);
    assertEquals(bad.problem.reason, reason);
    assertStringIncludes(bad.problem.message, "endpoint a");
  });
}

Deno.test("an unresolved endpoint gives no upstream, and its fellows of the backendRef do", () => {
  const found = upstreams([byIP("a", { tailscaleIP: "10.0.0.1" }), byIP("b")]);
  assertEquals(found.map(({ name }) => name), ["b"]);
});

Deno.test("a name while the devices are not known is not called missing", () => {
  const { devices: _devices, ...unknown } = view([byName("a")]);
  const [found] = resolveEntries(unknown);
  assert(found && "problem" in found);
  assertEquals(found.problem.reason, "TailnetNotReady");
});

Deno.test("M20 a port picks the endpoints that have it, and none picks all", () => {
  const entries = [byIP("a"), byIP("b", { port: 81 }), byIP("c")];
  const names = (port?: number) => upstreams(entries, {}, port).map(({ name }) => name);
  assertEquals([names(8080), names(81), names()], [["a", "c"], ["b"], ["a", "b", "c"]]);
});

Deno.test("a port that no endpoint has, or no endpoints at all, is a problem that is named", () => {
  const missing = resolveBackend(view([byIP("a")]), 9);
  assertEquals(reasonOf(missing), "PortUnserved");
  assert("problem" in missing);
  assertStringIncludes(missing.problem.message, "port 9");
  assertEquals(reasonOf(resolveBackend(view([]), undefined)), "PortUnserved");
});

Deno.test("endpoints of one backendRef that differ in protocol or health check are MixedSettings", () => {
  const mixed = [
    byIP("b", { protocol: "GRPC" }),
    byIP("b", { protocol: "HTTP2" }),
    byIP("b", { healthCheck: { path: "/healthz" } }),
    byIP("b", { healthCheck: { enabled: false } }),
    byIP("b", { healthCheck: { interval: "20s" } }),
  ];
  for (const other of mixed) {
    assertEquals(reasonOf(resolveBackend(view([byIP("a"), other]), 8080)), "MixedSettings");
  }
});

Deno.test("endpoints that differ in weight, or say a default, agree", () => {
  const other = byIP("b", { weight: 9, healthCheck: { interval: "10s" } });
  assertEquals(upstreams([byIP("a"), other]).length, 2);
});

Deno.test("endpoints that differ can be named by different ports", () => {
  const entries = [byIP("a"), byIP("b", { port: 81, protocol: "GRPC" })];
  const protocols = [8080, 81].map((port) =>
    backendOf(resolveBackend(view(entries), port)).protocol
  );
  assertEquals(protocols, ["HTTP", "HTTP2"]);
});

Deno.test("without a ready egress proxy a backend has no upstreams, and is no problem", () => {
  const { proxy: _proxy, ...without } = view([byIP("a")]);
  assertEquals(backendOf(resolveBackend(without, undefined)).priorities, [[]]);
});

Deno.test("an object that is refused as a whole has no backend", () => {
  const refused = { reason: "Deleting", message: "it goes" };
  assertEquals(reasonOf(resolveBackend(view([byIP("a")], { refused }), undefined)), "Deleting");
});

const PROTOCOLS = [
  ["HTTP", "HTTP", "HTTP"],
  ["HTTPS", "HTTP", "HTTP"],
  ["HTTP2", "HTTP2", "HTTP"],
  ["GRPC", "HTTP2", "GRPC"],
  ["TCP", "TCP", undefined],
  ["TLS", "TCP", undefined],
] as const;
for (const [protocol, spoken, check] of PROTOCOLS) {
  Deno.test(`an endpoint of ${protocol} is spoken to by ${spoken}, and checked by ${check ?? "nothing"}`, () => {
    const backend = backendOf(resolveBackend(view([byIP("a", { protocol })]), undefined));
    assertEquals([backend.protocol, backend.healthCheck?.type], [spoken, check]);
  });
}

Deno.test("a TCP endpoint is checked by connecting where that is asked for", () => {
  const entry = byIP("a", { protocol: "TCP", healthCheck: { enabled: true } });
  const { healthCheck } = backendOf(resolveBackend(view([entry]), undefined));
  assertEquals([healthCheck?.type, healthCheck && "path" in healthCheck], ["TCP", false]);
});

Deno.test("a health check is given whole, in milliseconds", () => {
  const healthCheck = {
    path: "/healthz",
    interval: "30s",
    timeout: "1s500ms",
    healthyThreshold: 2,
    unhealthyThreshold: 5,
  };
  assertEquals(
    backendOf(resolveBackend(view([byIP("a", { healthCheck })]), undefined)).healthCheck,
    {
      type: "HTTP",
      path: "/healthz",
      intervalMs: 30_000,
      timeoutMs: 1_500,
      healthyThreshold: 2,
      unhealthyThreshold: 5,
    },
  );
});

Deno.test("a host by name keeps the address that was told while the devices are not known", () => {
  const told = new Map([["api.tail1234.ts.net", "100.64.0.9"]]);
  const other = byName("b", { tailscaleFQDN: "other.tail1234.ts.net" });
  const { devices: _unknown, ...rest } = view([byName("a"), other], { told });
  assertEquals(resolveEntries(rest).map((entry) => "address" in entry && entry.address), [
    "100.64.0.9",
    false,
  ]);
  // What is known wins over what was told.
  const known = resolveEntries(view([byName("a")], { told }));
  assertEquals(known.map((entry) => "address" in entry && entry.address), ["100.64.0.7"]);
});
