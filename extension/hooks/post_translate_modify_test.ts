import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { codec } from "../../proto/codec.ts";
import { buildSnapshot, emptySnapshot } from "../snapshot.ts";
import { backend, directHost, tailnetHost } from "../testdata/backends.ts";
import { anyMessage, namedMessage, otherThan } from "../testdata/messages.ts";
import { MalformedMessageError } from "../wire/fields.ts";
import { concat, lenField } from "../wire/splicer.ts";
import { postTranslateModify } from "./post_translate_modify.ts";

const request = codec("envoygateway.extension.PostTranslateModifyRequest");
const response = codec("envoygateway.extension.PostTranslateModifyResponse");
const cluster = codec("envoy.config.cluster.v3.Cluster");

const OURS = "httproute/apps/web/rule/0";
const snapshot = buildSnapshot({
  clusters: [{ cluster: OURS, backend: backend([directHost("web")]), gateways: ["apps/edge"] }],
});

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function lists(
  bytes: Uint8Array,
): Record<"clusters" | "secrets" | "listeners" | "routes", string[]> {
  const { clusters = [], secrets = [], listeners = [], routes = [] } = response.decode(bytes);
  const hex = (list: readonly Uint8Array[]) => list.map((b) => new Uint8Array(b).toHex());
  return {
    clusters: hex(clusters),
    secrets: hex(secrets),
    listeners: hex(listeners),
    routes: hex(routes),
  };
}

/** A request's lists in any order, with fields that a later Envoy Gateway may add. */
const parts = fc.array(
  fc.oneof(
    fc.tuple(
      fc.constant(2),
      namedMessage(fc.constantFrom("", "a", "grpcroute/a/b/rule/0", "xds_cluster", "ü")),
    ),
    fc.tuple(fc.integer({ min: 3, max: 5 }), anyMessage),
    fc.tuple(fc.constant(0), otherThan([5])),
  ),
  { maxLength: 20 },
);

Deno.test("M148 PostTranslateModify hands back every byte of what it does not touch, secrets too", () => {
  fc.assert(
    fc.property(parts, (list) => {
      const bytes = concat(list.map(([number, value]) => number ? lenField(number, value) : value));
      const before = bytes.slice();
      const result = postTranslateModify.run(snapshot, bytes);
      const sent = (number: number) => list.filter(([n]) => n === number).map(([, v]) => v.toHex());
      assertEquals(lists(result.response), {
        clusters: sent(2),
        secrets: sent(3),
        listeners: sent(4),
        routes: sent(5),
      });
      const { clusters, secrets, edited } = result.facts.counts;
      assertEquals([clusters, secrets, edited], [sent(2).length, sent(3).length, 0]);
      assertEquals(bytes, before);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("M148 PostTranslateModify keeps, in a cluster that it edits, every field that it does not replace", () => {
  const replaced = new Set([2, 3, 33, 38]);
  const kept = fc.integer({ min: 4, max: 100 }).filter((n) => !replaced.has(n) && n !== 8);
  const field = fc.oneof(kept, fc.constantFrom(...replaced)).chain((n) =>
    fc.uint8Array({ maxLength: 40 }).map((value) => ({ n, bytes: lenField(n, value) }))
  );
  const edit = snapshot.clusters.get(OURS)!.encoded;
  fc.assert(fc.property(fc.array(field), anyMessage, (fields, foreign) => {
    const named = { n: 1, bytes: lenField(1, text(OURS)) };
    const element = concat([named, ...fields].map((f) => f.bytes));
    const bytes = concat([lenField(5, foreign), lenField(2, element), lenField(3, foreign)]);
    const result = postTranslateModify.run(snapshot, bytes);
    const rest = [named, ...fields].filter((f) => !replaced.has(f.n)).map((f) => f.bytes);
    assertEquals(lists(result.response), {
      clusters: [concat([...rest, edit.checkedEndpoints]).toHex()],
      secrets: [foreign.toHex()],
      listeners: [],
      routes: [foreign.toHex()],
    });
    assertEquals(result.facts.counts.edited, 1);
  }));
});

Deno.test("M148 PostTranslateModify answers equal bytes for equal snapshots", () => {
  const bytes = request.encode({ clusters: [cluster.encode({ name: OURS, type: 3 })] });
  const again = buildSnapshot({
    clusters: [{ cluster: OURS, backend: backend([directHost("web")]), gateways: ["apps/edge"] }],
  });
  const [a, b] = [snapshot, again].map((s) => postTranslateModify.run(s, bytes).response);
  assertEquals(a, b);
});

Deno.test("PostTranslateModify gives a cluster of an unknown name back and counts it", () => {
  const clusters = ["prometheus_stats", "httproute/apps/other/rule/0"]
    .map((name) => cluster.encode({ name, type: 3 }));
  const { facts } = postTranslateModify.run(snapshot, request.encode({ clusters }));
  assertEquals([facts.counts.clusters, facts.counts.unknown], [2, 1]);
});

Deno.test("PostTranslateModify tells for which Gateway, and of which revision, the call is", () => {
  const object = (spec: unknown, kind = "TailscaleGatewayRevision") =>
    text(JSON.stringify({
      apiVersion: "gateway.tailscale.com/v1alpha1",
      kind,
      metadata: { name: "edge", namespace: "apps" },
      spec,
    }));
  const gateway = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "edge" };
  const extensionResources = [
    object({ revision: "abc.1", targetRefs: [gateway, { ...gateway, kind: "HTTPRoute" }] }),
    object({ revision: "no.1", targetRefs: [gateway] }, "OtherPolicy"),
    object({ revision: 7, targetRefs: [gateway] }),
    object(null),
    text("TailscaleGatewayRevision {"),
    text("[]"),
  ].map((unstructuredBytes) => ({ unstructuredBytes }));
  const bytes = request.encode({ postTranslateContext: { extensionResources } });
  const { facts } = postTranslateModify.run(emptySnapshot, bytes);
  assertEquals(facts.revisions, [{ gateway: "apps/edge", revision: "abc.1" }]);
  assertEquals(facts.counts.malformedResources, 1);
});

Deno.test("PostTranslateModify answers an empty request with an empty response", () => {
  assertEquals(postTranslateModify.run(snapshot, new Uint8Array()).response.length, 0);
});

Deno.test("PostTranslateModify refuses what is no protobuf message", () => {
  const cut = request.encode({ clusters: [new Uint8Array(50)] }).subarray(0, 20);
  assertThrows(() => postTranslateModify.run(snapshot, cut), MalformedMessageError);
  const bad = request.encode({ clusters: [new Uint8Array([0x0a, 0x7f])] });
  const error = assertThrows(() => postTranslateModify.run(snapshot, bad), MalformedMessageError);
  assert(error instanceof MalformedMessageError);
  assertEquals(error.offset, 2);
});

Deno.test("PostTranslateModify sets the proxy's transport socket once, whatever was there", () => {
  const proxied = buildSnapshot({
    clusters: [{ cluster: OURS, backend: backend([tailnetHost("web")]), gateways: [] }],
  });
  const run = (bytes: Uint8Array) =>
    response.decode(
      postTranslateModify.run(proxied, request.encode({ clusters: [bytes] })).response,
    ).clusters![0]!;
  const once = run(cluster.encode({ name: OURS, type: 3 }));
  assertEquals(cluster.decode(run(once)), cluster.decode(once));
});
