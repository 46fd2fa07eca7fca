/**
 * Lowers a zod schema to what a CRD takes: a structural OpenAPI schema in which
 * every field says what it is, and everything has bounds.
 *
 * zod's own OpenAPI output is the draft. The API server refuses some of it
 * (`additionalProperties: false` beside properties, unions of types), and the
 * cost estimate of CEL refuses rules over anything without bounds, so that a
 * field without them is an error here, where the author sees it.
 *
 * @module
 */

import { z } from "zod";

/** A node of a structural schema. */
export interface StructuralSchema {
  description?: string;
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  format?: string;
  default?: unknown;
  enum?: readonly unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  anyOf?: readonly { type: string }[];
  properties?: Record<string, StructuralSchema>;
  required?: readonly string[];
  items?: StructuralSchema;
  additionalProperties?: StructuralSchema;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  "x-kubernetes-list-map-keys"?: readonly string[];
  "x-kubernetes-validations"?: readonly { rule: string; message: string }[];
}

/** A schema that no CRD can have; the message names the field and what it lacks. */
export class StructuralSchemaError extends Error {
  override readonly name = "StructuralSchemaError";
  constructor(readonly path: string, problem: string) {
    super(`${path}: ${problem}`);
  }
}

/**
 * The structural schema of a zod schema.
 *
 * @param path where the schema stands in the object, for error messages
 * @throws {StructuralSchemaError} for a field without description or bounds, or
 * of a type that a CRD cannot have
 */
export function structuralSchema(schema: z.ZodType, path: string): StructuralSchema {
  const draft = z.toJSONSchema(schema, { target: "openapi-3.0", io: "input" });
  return lower(draft as Draft, path);
}

type Draft = Record<string, unknown> & {
  type?: string;
  properties?: Record<string, Draft>;
  items?: Draft;
  additionalProperties?: Draft | boolean;
};

// In the order in which they stand in the YAML.
const KEPT = [
  "description",
  "type",
  "format",
  "default",
  "enum",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "maxProperties",
  "required",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-validations",
] as const;

function lower(draft: Draft, path: string): StructuralSchema {
  requireText(draft.description, path);
  if (draft["x-kubernetes-int-or-string"] === true) return intOrString(draft);
  const node = keep(draft, path);
  switch (draft.type) {
    case "object":
      return lowerObject(node, draft, path);
    case "array":
      return lowerArray(node, draft, path);
    case "string":
      return bounded(node, path);
    case "integer":
      return withoutSafeBounds(node);
    case "boolean":
      return node;
    default:
      throw new StructuralSchemaError(path, `a CRD has no type ${String(draft.type)}`);
  }
}

// Taken care of by type, or without a meaning here.
const LOWERED = new Set(["$schema", "properties", "items", "additionalProperties"]);

/** What can stay as it is; a constraint that would be lost is an error. */
function keep(draft: Draft, path: string): StructuralSchema {
  const node: Record<string, unknown> = {};
  for (const key of KEPT) {
    if (draft[key] !== undefined) node[key] = draft[key];
  }
  const lost = Object.keys(draft).find((key) => !(key in node) && !LOWERED.has(key));
  if (lost !== undefined) throw new StructuralSchemaError(path, `a CRD has no ${lost} here`);
  return node;
}

function requireText(description: unknown, path: string): void {
  if (typeof description === "string" && description !== "") return;
  throw new StructuralSchemaError(path, "needs describe(): meaning, unit, default");
}

function intOrString(draft: Draft): StructuralSchema {
  const { description, pattern } = draft as StructuralSchema;
  return {
    ...(description === undefined ? {} : { description }),
    ...(pattern === undefined ? {} : { pattern }),
    anyOf: [{ type: "integer" }, { type: "string" }],
    "x-kubernetes-int-or-string": true,
  };
}

function lowerObject(node: StructuralSchema, draft: Draft, path: string): StructuralSchema {
  if (node["x-kubernetes-preserve-unknown-fields"]) return node;
  const { properties, additionalProperties } = draft;
  if (properties) {
    if (typeof additionalProperties === "object") {
      throw new StructuralSchemaError(path, "an object with further fields keeps none of them");
    }
    const entries = Object.entries(properties);
    return {
      ...node,
      properties: Object.fromEntries(
        entries.map(([name, child]) => [name, lower(child, `${path}.${name}`)]),
      ),
    };
  }
  if (typeof additionalProperties !== "object") {
    throw new StructuralSchemaError(path, "an object needs fields, or to be a map of something");
  }
  if (node.maxProperties === undefined) {
    throw new StructuralSchemaError(path, "a map needs maxProperties");
  }
  return { ...node, additionalProperties: lower(additionalProperties, `${path}.*`) };
}

function lowerArray(node: StructuralSchema, draft: Draft, path: string): StructuralSchema {
  if (node.maxItems === undefined) throw new StructuralSchemaError(path, "a list needs max()");
  if (!draft.items) throw new StructuralSchemaError(path, "a list needs a type of items");
  return {
    ...node,
    "x-kubernetes-list-type": node["x-kubernetes-list-type"] ?? "atomic",
    items: lower(draft.items, `${path}[]`),
  };
}

function bounded(node: StructuralSchema, path: string): StructuralSchema {
  if (node.maxLength === undefined && !node.enum && node.format !== "date-time") {
    throw new StructuralSchemaError(path, "a string needs max()");
  }
  return node;
}

/** Drops the bounds that zod gives every integer: JSON's, not ours. */
function withoutSafeBounds(node: StructuralSchema): StructuralSchema {
  const { minimum, maximum, ...rest } = node;
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}
