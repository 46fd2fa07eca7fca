import {
  assert,
  assertEquals,
  assertNotEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import type { Backend } from "../backends/backend.ts";
import {
  buildSnapshot,
  type ClusterInput,
  DuplicateClusterError,
  emptySnapshot,
} from "./snapshot.ts";
import { backend, check, directHost, tailnetHost } from "./testdata/backends.ts";

function input(cluster: string, of: Backend, ...gateways: string[]): ClusterInput {
  return { cluster, backend: of, gateways };
}

const A = input("httproute/apps/a/rule/0", backend([tailnetHost("a")]), "apps/edge", "apps/inner");
const B = input("httproute/apps/b/rule/0", backend([directHost("b")]), "apps/edge");

Deno.test("buildSnapshot gives the same hashes in any order of the input", () => {
  const orders = fc.shuffledSubarray([A, B, input("tcproute/apps/c/rule/-1", backend([]))], {
    minLength: 3,
  });
  const want = buildSnapshot({ clusters: [A, B, input("tcproute/apps/c/rule/-1", backend([]))] });
  fc.assert(fc.property(orders, (clusters) => {
    const got = buildSnapshot({
      clusters: clusters.map((c) => ({ ...c, gateways: [...c.gateways].reverse() })),
    });
    assertEquals(got, want);
    assertEquals([...got.clusters.keys()], [...want.clusters.keys()]);
    assertEquals([...got.gateways.keys()], ["apps/edge", "apps/inner"]);
  }));
});

Deno.test("buildSnapshot changes the hash of those Gateways whose clusters change, and the version", () => {
  const before = buildSnapshot({ clusters: [A, B] });
  const changed = input(B.cluster, backend([directHost("b", { port: 81 })]), "apps/edge");
  const after = buildSnapshot({ clusters: [A, changed] }, before);
  assertNotEquals(after.version, before.version);
  assertNotEquals(after.gateways.get("apps/edge"), before.gateways.get("apps/edge"));
  assertEquals(after.gateways.get("apps/inner"), before.gateways.get("apps/inner"));
});

Deno.test("buildSnapshot tells apart backends that differ in anything that is rendered", () => {
  const variants: Backend[] = [
    backend([tailnetHost("a")]),
    backend([tailnetHost("a", { address: "100.64.0.11" })]),
    backend([tailnetHost("a", { proxy: { address: "10.96.0.9", port: 1056 } })]),
    backend([directHost("a")]),
    backend([directHost("a", { dns: true, address: "a.example" })]),
    backend([directHost("a", { hostname: "a.example" })]),
    backend([directHost("a", { weight: 2 })]),
    backend([tailnetHost("a")], { protocol: "HTTP2" }),
    backend([tailnetHost("a")], { healthCheck: check("HTTP") }),
    backend([tailnetHost("a")], { healthCheck: check("TCP") }),
    backend([tailnetHost("a")], { priorities: [[tailnetHost("a")], [tailnetHost("b")]] }),
    backend([]),
  ];
  const versions = variants.map((b) => buildSnapshot({ clusters: [input("c", b)] }).version);
  assertEquals(new Set(versions).size, variants.length);
  for (const [i, first] of variants.entries()) {
    const before = buildSnapshot({ clusters: [input("c", first)] });
    for (const [j, next] of variants.entries()) {
      const after = buildSnapshot({ clusters: [input("c", next)] }, before);
      assertEquals([i, j, after.version], [i, j, versions[j]]);
    }
  }
});

Deno.test("buildSnapshot takes over the edits of backends that are still the same", () => {
  const before = buildSnapshot({ clusters: [A, B] });
  const copy = structuredClone({ clusters: [A, B] });
  const after = buildSnapshot(copy, before);
  assertEquals(after.version, before.version);
  for (const [name, edit] of after.clusters) assertStrictEquals(edit, before.clusters.get(name));
});

Deno.test("buildSnapshot does not take an absent health check for the one that was there", () => {
  const checked = input("c", backend([tailnetHost("a")], { healthCheck: check("HTTP") }));
  const plain = input("c", backend([tailnetHost("a")]));
  const after = buildSnapshot({ clusters: [plain] }, buildSnapshot({ clusters: [checked] }));
  assertEquals(after, buildSnapshot({ clusters: [plain] }));
});

Deno.test("buildSnapshot refuses two backends for one cluster", () => {
  const error = assertThrows(() => buildSnapshot({ clusters: [A, B, A] }), DuplicateClusterError);
  assert(error.message.includes(A.cluster));
});

Deno.test("a snapshot and its edits are frozen", () => {
  const snapshot = buildSnapshot({ clusters: [A] });
  assert(Object.isFrozen(snapshot));
  assert(Object.isFrozen(snapshot.clusters.get(A.cluster)));
  assert(Object.isFrozen(snapshot.clusters.get(A.cluster)?.encoded));
});

Deno.test("emptySnapshot knows no cluster and no Gateway", () => {
  assertEquals([emptySnapshot.clusters.size, emptySnapshot.gateways.size], [0, 0]);
});
