import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { timestamp } from "../../core/conditions.ts";
import { GATEWAY } from "../../api/resources.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { gateway, NOW } from "../testing/builders.ts";
import { Model } from "../testing/model.ts";
import type { HookFacts, RenderedGateway } from "../world.ts";
import { revisionController } from "./controller.ts";
import { MAX_REPEATS, PATIENCE_MS, RETRY_MS, SETTLE_MS } from "./plan.ts";

const LONG_AGO = NOW - 3_600_000;

/** A Gateway for which `hash` is rendered, and nothing else changes. */
function world(hash: string | undefined, rest: Partial<RenderedGateway> = {}): Model {
  const model = new Model(gateway());
  model.rendered = new Map(
    hash ? [["infra/eg", { hash, changedAt: LONG_AGO, dirtySince: LONG_AGO, ...rest }]] : [],
  );
  return model;
}

/** A revision that was written long ago, unless it is said when. */
function revision(text: string, writtenAt = LONG_AGO): TailscaleGatewayRevision {
  const written = TailscaleGatewayRevision.create({
    name: "eg",
    namespace: "infra",
    uid: "uid-of-revision",
    managedFields: [
      { manager: "envoy-gateway", subresource: "status", time: timestamp(NOW) },
      { manager: "tailscale-gateway-revision", operation: "Apply", time: timestamp(writtenAt) },
    ],
  }, {
    targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" }],
    revision: text,
  });
  return written;
}

function calls(model: Model, facts: { failedAt?: number; servedHash?: string }): Model {
  const of = <T>(value: T | undefined) => new Map<string, T>(value ? [["infra/eg", value]] : []);
  const hooks: HookFacts = { failedAt: of(facts.failedAt), servedHash: of(facts.servedHash) };
  model.hooks = hooks;
  return model;
}

/** The revision that is written now, else when the plan wakes, else nothing. */
function outcome(model: Model): string | { wakeAt: number } | undefined {
  const plan = model.plan(revisionController, "infra/eg");
  const [action] = plan?.actions ?? [];
  if (action?.do === "apply") {
    return (action.object as unknown as TailscaleGatewayRevision).spec.revision;
  }
  if (action) return `${action.do}`;
  return plan?.wakeAt === undefined ? undefined : { wakeAt: plan.wakeAt };
}

Deno.test("nothing is concluded before it is known what is rendered", () => {
  const model = world("h1").put(revision("h0.0"));
  model.rendered = undefined;
  assertEquals(model.plan(revisionController, "infra/eg"), undefined);
});

Deno.test("a Gateway without backends of ours has no revision, and loses the one that it had", () => {
  assertEquals(outcome(world(undefined)), undefined);
  assertEquals(outcome(world(undefined).put(revision("h1.0"))), "delete");
});

Deno.test("the first revision of a Gateway is written at once", () => {
  assertEquals(outcome(world("h1", { changedAt: NOW, dirtySince: NOW })), "h1.0");
});

Deno.test("a revision targets its Gateway, and goes with it", () => {
  const [action] = world("h1").plan(revisionController, "infra/eg")?.actions ?? [];
  assert(action?.do === "apply");
  const { metadata, spec } = action.object as unknown as TailscaleGatewayRevision;
  assertEquals(metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]), [
    ["Gateway", "uid-of-eg"],
  ]);
  assertEquals(spec.targetRefs, [
    { group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" },
  ]);
});

Deno.test("a change is written a second after the last one of a burst", () => {
  const model = world("h2", { changedAt: NOW - 400, dirtySince: NOW - 900 }).put(revision("h1.0"));
  assertEquals(outcome(model), { wakeAt: NOW - 400 + SETTLE_MS });
  model.now += SETTLE_MS;
  assertEquals(outcome(model), "h2.0");
});

Deno.test("a burst that does not end is written 5 s after its first change", () => {
  const model = world("h9", { changedAt: NOW, dirtySince: NOW - PATIENCE_MS + 1 })
    .put(revision("h1.3"));
  assertEquals(outcome(model), { wakeAt: NOW + 1 });
  model.now += 1;
  assertEquals(outcome(model), "h9.0");
});

Deno.test("a revision that says what is rendered is left alone, whether or not it was served yet", () => {
  assertEquals(outcome(world("h1").put(revision("h1.0"))), undefined);
  assertEquals(outcome(calls(world("h1").put(revision("h1.0")), { servedHash: "h1" })), undefined);
});

Deno.test("a translation that failed is asked for again, each time after twice as long", () => {
  for (const [count, factor] of [[0, 1], [1, 2], [2, 4], [5, 32]] as const) {
    const model = calls(world("h1").put(revision(`h1.${count}`)), { failedAt: NOW });
    const due = NOW + RETRY_MS * factor;
    assertEquals(outcome(model), { wakeAt: due });
    model.now = due;
    assertEquals(outcome(model), `h1.${count + 1}`);
  }
});

Deno.test("an Envoy Gateway that is gone is not asked for ever", () => {
  for (const facts of [{ failedAt: LONG_AGO }, { servedHash: "h0" }]) {
    const model = calls(world("h1").put(revision(`h1.${MAX_REPEATS}`)), facts);
    assertEquals(outcome(model), undefined);
  }
});

Deno.test("a failure before the change gives the new revision its own time", () => {
  const model = calls(world("h2").put(revision("h1.5")), { failedAt: NOW });
  assertEquals(outcome(model), "h2.0");
});

Deno.test("a call that was answered from something else than the revision says is asked for again", () => {
  const model = calls(world("h1").put(revision("h1.0")), { servedHash: "h2" });
  assertEquals(outcome(model), "h1.1");
});

Deno.test("a revision that has just been written is given time to be served", () => {
  const model = calls(world("h2").put(revision("h2.0", NOW)), { servedHash: "h1" });
  assertEquals(outcome(model), { wakeAt: NOW + RETRY_MS });
  assertEquals(outcome(calls(model, { servedHash: "h2" })), undefined);
});

for (const text of ["", "h1", "h1.", "h1.x", "h1.-1", ".", "h1.99999999999999999999"]) {
  Deno.test(`a revision with the text ${JSON.stringify(text)} is written anew`, () => {
    assertEquals(outcome(world("h1").put(revision("h0.0"), withText(text))), "h1.0");
  });
}

/** A text that the API server would admit and we would not write. */
function withText(text: string): TailscaleGatewayRevision {
  const written = revision("h0.0");
  return { ...written, spec: { ...written.spec, revision: text } };
}

Deno.test("nothing is written for a Gateway that goes or is gone", () => {
  const going = world("h2").put(
    revision("h1.0"),
    gateway({ deletionTimestamp: timestamp(NOW) }),
  );
  assertEquals(outcome(going), undefined);
  const gone = world("h2").put(revision("h1.0"));
  gone.remove(GATEWAY, "infra/eg");
  assertEquals(outcome(gone), undefined);
});

Deno.test("however Envoy Gateway fails or keeps silent, an hour of wakes does not write hot", () => {
  const facts = fc.record({
    failed: fc.boolean(),
    servedHash: fc.constantFrom("h0", "h1"),
    count: fc.nat(9),
  });
  fc.assert(fc.property(facts, ({ failed, servedHash, count }) => {
    const model = world("h1").put(revision(`h1.${count}`));
    calls(model, { servedHash, ...(failed ? { failedAt: NOW } : {}) });
    let writes = 0;
    for (const end = NOW + 3_600_000; model.now < end;) {
      const now = outcome(model);
      if (now === undefined) break;
      if (typeof now === "object") {
        assert(now.wakeAt > model.now);
        model.now = now.wakeAt;
      } else {
        assert(++writes <= 20, "written hot");
        model.put(revision(now, model.now));
      }
    }
  }));
});

Deno.test("figure 13: a clock that is set back makes no change wait, and repeats none for ever", () => {
  const model = world("b", { changedAt: NOW + 3_600_000, dirtySince: NOW + 3_600_000 });
  assertEquals(outcome(model.put(revision("a.0", NOW + 3_600_000))), "b.0");
  const served = calls(world("a").put(revision("a.0", NOW + 3_600_000)), { servedHash: "b" });
  assertEquals(outcome(served), "a.1");
});
