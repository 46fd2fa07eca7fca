import { assertEquals } from "@std/assert";
import fc from "fast-check";
import type { KubeObject } from "../../core/object.ts";
import { type Applied, serverSideApply } from "./apply.ts";
import { asObject, fields, type JsonMap } from "./json.ts";
import { FieldRules } from "./list_rules.ts";
import { ownable, ownersOf, toEntries, type Writer } from "./managed_fields.ts";
import { difference, EMPTY, toFieldsV1, union } from "./field_set.ts";
import { appliedFields } from "./typed.ts";

const RULES = new FieldRules({ group: "apps", kind: "StatefulSet", builtin: true });

/** What the leaves of configurations may be. */
interface Leaves {
  readonly text: fc.Arbitrary<string>;
  readonly flag: fc.Arbitrary<boolean>;
  readonly list: fc.Arbitrary<number[]>;
  readonly image: fc.Arbitrary<string>;
}

const plain = { noNullPrototype: true };
const name = fc.constantFrom("a", "b", "c", "d");

/**
 * Nested maps; as in a schema, each name always has the same type. None is empty:
 * a map that loses its last field becomes null, which has a test of its own.
 */
function trees({ text, flag, list }: Leaves): fc.Arbitrary<JsonMap> {
  return fc.letrec<{ node: JsonMap }>((tie) => {
    const leaf = fc.record({ flag }, plain) as fc.Arbitrary<JsonMap>;
    const node = fc.oneof({ depthSize: "small" }, leaf, tie("node"));
    const members = { text, flag, list, map: node, other: node };
    const keys = { requiredKeys: ["flag" as const], ...plain };
    return { node: fc.record(members, keys) as fc.Arbitrary<JsonMap> };
  }).node;
}

/** A list that is merged by name; never empty, since then nobody would own it. */
function containers({ image, list }: Leaves): fc.Arbitrary<JsonMap[]> {
  const container = fc.record({ name, image, args: list }, { requiredKeys: ["name"], ...plain });
  return fc.uniqueArray(container, { selector: (c) => c.name, minLength: 1, maxLength: 4 });
}

/** Configurations with labels, nested maps and a list that is merged by key. */
function configs(leaves: Leaves): fc.Arbitrary<JsonMap> {
  const labels = fc.uniqueArray(name, { maxLength: 3 });
  return fc.record({ labels, tree: trees(leaves), containers: containers(leaves) }).map((
    parts,
  ) => ({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      name: "web",
      ...(parts.labels.length > 0
        ? { labels: Object.fromEntries(parts.labels.map((label) => [label, "x"])) }
        : {}),
    },
    spec: { ...parts.tree, template: { spec: { containers: parts.containers } } },
  }));
}

const config = configs({
  text: fc.string({ maxLength: 3 }),
  flag: fc.boolean(),
  list: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
  image: fc.constantFrom("x:1", "x:2"),
});

/** Configurations that agree about every field that they share. */
const agreeing = configs({
  text: fc.constant("t"),
  flag: fc.constant(true),
  list: fc.constant([1]),
  image: fc.constant("x:1"),
});

function writer(manager: string): Writer {
  return { manager, operation: "Apply", apiVersion: "apps/v1", now: 0 };
}

/** Applies by force. */
function apply(live: KubeObject | undefined, manager: string, config: JsonMap): KubeObject {
  const request = { live, config, writer: writer(manager), force: true, rules: RULES };
  return stored(serverSideApply(request));
}

/** Applies without force; throws on a conflict. */
function applyMildly(live: KubeObject | undefined, manager: string, config: JsonMap): KubeObject {
  const request = { live, config, writer: writer(manager), force: false, rules: RULES };
  return stored(serverSideApply(request));
}

function stored({ object, owners }: Applied): KubeObject {
  const managedFields = toEntries(owners);
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function content(object: KubeObject): JsonMap {
  const { managedFields: _, ...metadata } = object.metadata;
  return fields(asObject({ ...fields(object), metadata } as unknown as JsonMap));
}

Deno.test("applying a configuration to nothing stores just that", () => {
  fc.assert(fc.property(config, (a) => {
    assertEquals(content(apply(undefined, "one", a)), a);
  }));
});

Deno.test("applying a configuration twice is the same as once", () => {
  fc.assert(fc.property(config, config, (a, b) => {
    const once = apply(apply(undefined, "other", b), "one", a);
    assertEquals(apply(once, "one", a), once);
  }));
});

Deno.test("a manager's next configuration replaces all of its last one", () => {
  fc.assert(fc.property(config, config, (a, b) => {
    const after = apply(apply(undefined, "one", a), "one", b);
    assertEquals(sortContainers(content(after)), sortContainers(b));
  }));
});

Deno.test("what one manager adds and drops again leaves another's fields as they were", () => {
  fc.assert(fc.property(agreeing, agreeing, (a, b) => {
    const added = applyMildly(apply(undefined, "one", a), "two", b);
    const bare = { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "web" } };
    const dropped = applyMildly(added, "two", bare);
    assertEquals(sortContainers(content(dropped)), sortContainers(a));
  }));
});

Deno.test("managers that agree never conflict, and give the same object in either order", () => {
  fc.assert(fc.property(agreeing, agreeing, (a, b) => {
    const ab = applyMildly(apply(undefined, "one", a), "two", b);
    const ba = applyMildly(apply(undefined, "two", b), "one", a);
    assertEquals(sortContainers(content(ab)), sortContainers(content(ba)));
    assertEquals(sets(ab), sets(ba));
  }));
});

Deno.test("every field of an object has an owner, whoever applied what", () => {
  fc.assert(fc.property(config, config, config, (a, b, c) => {
    const object = apply(apply(apply(undefined, "one", a), "two", b), "one", c);
    const owned = [...ownersOf(object).values()].map((o) => o.set).reduce(union, EMPTY);
    const present = ownable(appliedFields(content(object), RULES));
    assertEquals(toFieldsV1(difference(present, owned)), {});
  }));
});

function sets(object: KubeObject): unknown {
  const entries = object.metadata.managedFields ?? [];
  return Object.fromEntries(entries.map((entry) => [entry.manager, entry.fieldsV1]));
}

/** The order of containers depends on who came first, so it is not compared. */
function sortContainers(object: JsonMap): JsonMap {
  const copy = structuredClone(object);
  const spec = copy["spec"] as { template?: { spec: { containers: { name: string }[] } } };
  spec.template?.spec.containers.sort((a, b) => a.name.localeCompare(b.name));
  return copy;
}
