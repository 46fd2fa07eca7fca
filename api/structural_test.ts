import { assert, assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { objectSchema } from "./crd.ts";
import { duration, setOf, timestamp } from "./fields.ts";
import { quantity } from "./proxy_fields.ts";
import { KINDS } from "./registry.ts";
import { withRules } from "./rules.ts";
import { type StructuralSchema, structuralSchema, StructuralSchemaError } from "./structural.ts";

const lowered = (schema: z.ZodType) =>
  structuralSchema(z.object({ field: schema }).describe("All."), "spec").properties?.["field"];

Deno.test("structuralSchema() keeps description, default and bounds of a string", () => {
  assertEquals(lowered(z.string().min(1).max(5).regex(/^a/).default("a").describe("Text.")), {
    description: "Text.",
    type: "string",
    default: "a",
    pattern: "^a",
    minLength: 1,
    maxLength: 5,
  });
});

Deno.test("structuralSchema() gives integers only the bounds that were asked for", () => {
  assertEquals(lowered(z.int().describe("N.")), { description: "N.", type: "integer" });
  assertEquals(lowered(z.int().min(0).describe("N.")), {
    description: "N.",
    type: "integer",
    minimum: 0,
  });
});

Deno.test("structuralSchema() writes a quantity as Kubernetes does", () => {
  const { pattern, ...rest } = lowered(quantity().describe("CPU.")) ?? {};
  assert(new RegExp(pattern ?? "^$").test("100m"));
  assertEquals(rest, {
    description: "CPU.",
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
  });
});

Deno.test("structuralSchema() makes a list atomic unless it says otherwise", () => {
  const item = z.string().max(5).describe("Item.");
  assertEquals(
    lowered(z.array(item).max(3).describe("L."))?.["x-kubernetes-list-type"],
    "atomic",
  );
  assertEquals(lowered(setOf(item, 3).describe("L."))?.["x-kubernetes-list-type"], "set");
});

Deno.test("structuralSchema() closes no object, so that unknown fields are pruned", () => {
  const strict = z.strictObject({ a: z.boolean().describe("A.") }).describe("S.");
  assertEquals(lowered(strict), {
    description: "S.",
    type: "object",
    required: ["a"],
    properties: { a: { description: "A.", type: "boolean" } },
  });
});

Deno.test("structuralSchema() passes types of Kubernetes on whole", () => {
  const loose = z.looseObject({}).meta({ "x-kubernetes-preserve-unknown-fields": true });
  assertEquals(lowered(loose.describe("Affinity.")), {
    description: "Affinity.",
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
  });
});

Deno.test("structuralSchema() keeps rules in their order through default and optional", () => {
  const first = withRules(z.int(), { rule: "self > 1", message: "above 1" });
  const both = withRules(first, { rule: "self < 9", message: "below 9" });
  const expected = [{ rule: "self > 1", message: "above 1" }, {
    rule: "self < 9",
    message: "below 9",
  }];
  for (const field of [both.describe("N."), both.default(5).describe("N.")]) {
    assertEquals(lowered(field)?.["x-kubernetes-validations"], expected);
  }
  assertEquals(
    lowered(both.exactOptional().describe("N."))?.["x-kubernetes-validations"],
    expected,
  );
});

Deno.test("structuralSchema() names the field that cannot be in a CRD, and what it lacks", () => {
  const cases: readonly [z.ZodType, string][] = [
    [z.string().max(5), "spec.field: needs describe()"],
    [z.string().describe("S."), "spec.field: a string needs max()"],
    [z.array(z.int().describe("N.")).describe("L."), "spec.field: a list needs max()"],
    [
      z.array(z.string().describe("S.")).max(1).describe("L."),
      "spec.field[]: a string needs max()",
    ],
    [z.record(z.string(), z.int().describe("N.")).describe("M."), "a map needs maxProperties"],
    [z.union([z.int(), z.boolean()]).describe("U."), "spec.field: a CRD has no anyOf"],
    [z.string().max(5).nullable().describe("N."), "spec.field: a CRD has no nullable"],
    [z.int().positive().describe("N."), "spec.field: a CRD has no exclusiveMinimum"],
    [z.int().multipleOf(2).describe("N."), "spec.field: a CRD has no multipleOf"],
    [z.looseObject({}).describe("O."), "spec.field: an object with further fields"],
  ];
  for (const [schema, problem] of cases) {
    assertThrows(() => lowered(schema), StructuralSchemaError, problem);
  }
});

Deno.test("structuralSchema() needs no length for times", () => {
  assertEquals(lowered(timestamp().describe("T."))?.format, "date-time");
  assertEquals(lowered(duration().describe("D."))?.maxLength, 32);
});

/** What a node of a CRD lacks. */
function* lacks(schema: StructuralSchema, path: string): Generator<string> {
  const open = schema["x-kubernetes-preserve-unknown-fields"] ?? false;
  if (!schema.type && !schema["x-kubernetes-int-or-string"]) yield `${path}: type`;
  if (!schema.description) yield `${path}: description`;
  if (schema.type === "string" && !schema.maxLength && !schema.enum && !schema.format) {
    yield `${path}: maxLength`;
  }
  if (schema.type === "array" && !schema.maxItems) yield `${path}: maxItems`;
  if (schema.additionalProperties && !schema.maxProperties) yield `${path}: maxProperties`;
  if (schema.additionalProperties && schema.properties) yield `${path}: one of both`;
  if (schema.type === "object" && !open && !schema.properties && !schema.additionalProperties) {
    yield `${path}: properties`;
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    yield* lacks(child, `${path}.${name}`);
  }
  if (schema.items) yield* lacks(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* lacks(schema.additionalProperties, `${path}.*`);
}

Deno.test("M57 every field of every CRD has a type, a description and bounds", () => {
  for (const kind of KINDS) {
    const { properties } = objectSchema(kind);
    for (const part of ["spec", "status"]) {
      assertEquals([...lacks(properties?.[part] ?? {}, `${kind.kind}.${part}`)], []);
    }
  }
});

Deno.test("every description of a field is a sentence", () => {
  function* texts(schema: StructuralSchema): Generator<string> {
    if (schema.description) yield schema.description;
    for (const child of Object.values(schema.properties ?? {})) yield* texts(child);
    if (schema.items) yield* texts(schema.items);
  }
  for (const kind of KINDS) {
    for (const text of texts(objectSchema(kind))) {
      assert(/^[A-Z`].*\.$/s.test(text), `${kind.kind}: "${text}"`);
    }
  }
});

Deno.test("a default of an object is complete: rules see it before nested defaults", () => {
  function* partial(schema: StructuralSchema, path: string): Generator<string> {
    for (const [name, child] of Object.entries(schema.properties ?? {})) {
      const given = schema.default as Record<string, unknown> | undefined;
      if (given && child.default !== undefined && !(name in given)) yield `${path}.${name}`;
      yield* partial(child, `${path}.${name}`);
    }
    if (schema.items) yield* partial(schema.items, `${path}[]`);
  }
  for (const kind of KINDS) assertEquals([...partial(objectSchema(kind), kind.kind)], []);
});
