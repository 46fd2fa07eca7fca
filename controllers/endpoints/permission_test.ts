import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Namespace } from "../../api/core_objects.ts";
import { NAMESPACE, STATEFUL_SET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { egress, tailnet } from "../testing/builders.ts";
import { messageOf } from "../testing/conditions.ts";
import type { Model } from "../testing/model.ts";
import { endpointsController } from "./controller.ts";
import { actions, atRest, condition, edit, fresh, remove, run, status } from "./testing.ts";

const WEB = { from: "Selector" as const, selector: { matchLabels: { team: "web" } } };

/** The namespace of the objects. */
function namespace(labels: Record<string, string>): Namespace {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: "apps", labels } };
}

/** A tailnet for namespaces of team web alone. */
function narrowed(model: Model, labels?: Record<string, string>): Model {
  model.put(tailnet("corp", { allowedNamespaces: WEB }));
  return labels ? model.put(namespace(labels)) : model;
}

Deno.test("M2 objects of a namespace that the selector picks use the tailnet", () => {
  const model = narrowed(fresh(), { team: "web" });
  run(model);
  assertEquals(model.keys.size, 2);
  assertEquals(condition(model, "Accepted"), "True Accepted");
});

for (
  const [what, labels] of Object.entries({
    "other labels": { team: "db" },
    "no labels": {},
    "labels that are not known": undefined,
  })
) {
  Deno.test(`M2 for a namespace with ${what} nothing is made, no key first of all`, () => {
    const model = narrowed(fresh(), labels);
    assertEquals(run(model), []);
    assertEquals([model.keys.size, model.all(STATEFUL_SET).length], [0, 0]);
    for (const type of ["Accepted", "Ready"]) {
      assertEquals(condition(model, type), "False NamespaceNotAllowed");
    }
    assertStringIncludes(messageOf(status(model), "Accepted"), "namespace apps");
  });
}

Deno.test("M2 what runs when its namespace is let no more goes on, and nothing new is made", () => {
  const model = narrowed(atRest(), { team: "db" });
  assertEquals(condition(model, "Accepted"), "False NamespaceNotAllowed");
  edit(model, { proxy: egress(5) });
  assertEquals(actions(model), []);
  assertEquals(model.all(STATEFUL_SET).length, 1);
  model.put(namespace({ team: "web" }));
  run(model);
  assertEquals(model.keys.size, 5);
});

Deno.test("M2 what may not use the tailnet any more is removed from it when it is deleted", () => {
  const model = narrowed(atRest(), {});
  remove(model);
  run(model, 12);
  assertEquals(model.get(TailscaleEndpoints.resource, "apps/intranet"), undefined);
  assertEquals(model.devices, []);
});

Deno.test("a Namespace wakes the objects in it, and no others", () => {
  const model = fresh();
  const keys = endpointsController.mappings.find(({ type }) => type === NAMESPACE)?.keys;
  assertEquals(keys?.(namespace({}), model.world), ["apps/intranet"]);
  const other = { ...namespace({}), metadata: { name: "other" } };
  assertEquals(keys?.(other, model.world), []);
});

Deno.test("M65 M231 tags that the tailnet does not allow are named, and no key is made", () => {
  const model = fresh({ tags: ["tag:web", "tag:admin", "tag:root"] });
  model.put(tailnet("corp", { tags: ["tag:k8s"], allowedTags: ["tag:web", "tag:db"] }));
  assertEquals(run(model), []);
  assertEquals(model.keys.size, 0);
  assertEquals(condition(model, "Accepted"), "False TagsNotPermitted");
  const message = messageOf(status(model), "Accepted");
  assertStringIncludes(message, "tag:admin, tag:root: its allowedTags are tag:web, tag:db");
  edit(model, { tags: ["tag:web"] });
  run(model);
  assertEquals(model.keys.get("key-1")?.tags, ["tag:k8s", "tag:web"], "its own need no leave");
});

Deno.test("M65 M231 without allowedTags any tag may be asked for", () => {
  const model = fresh({ tags: ["tag:any"] });
  model.put(tailnet("corp", { allowedTags: [] }));
  run(model);
  assertEquals(model.keys.size, 2);
});
