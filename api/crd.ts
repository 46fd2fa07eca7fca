/**
 * The CustomResourceDefinition of a kind.
 *
 * @module
 */

import type { z } from "zod";
import { DNS_1035 } from "./fields.ts";
import { API_GROUP, API_VERSION, type Column, type Kind, type Rule } from "./kind.ts";
import { type StructuralSchema, structuralSchema } from "./structural.ts";

/** A CustomResourceDefinition with one version. */
export interface CustomResourceDefinition {
  apiVersion: "apiextensions.k8s.io/v1";
  kind: "CustomResourceDefinition";
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    group: string;
    names: {
      kind: string;
      listKind: string;
      plural: string;
      singular: string;
      shortNames?: readonly string[];
      categories: readonly string[];
    };
    scope: "Namespaced" | "Cluster";
    versions: readonly CustomResourceVersion[];
  };
}

/** A version of a CustomResourceDefinition. */
export interface CustomResourceVersion {
  name: string;
  served: boolean;
  storage: boolean;
  subresources: { status: Record<string, never> };
  additionalPrinterColumns: readonly Record<string, unknown>[];
  schema: { openAPIV3Schema: StructuralSchema };
}

/** A rule of every kind: its objects are named so that all that we derive from them is legal. */
export const NAME_RULE: Rule = {
  rule: `self.metadata.name.size() <= 63 && self.metadata.name.matches('${DNS_1035}')`,
  message:
    "metadata.name must be a DNS-1035 label: at most 63 lower-case letters, digits and dashes, beginning with a letter",
};

/**
 * The CRD of a kind.
 *
 * @throws {StructuralSchemaError} when its schema is none that a CRD can have
 */
export function crdOf(kind: Kind): CustomResourceDefinition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${kind.plural}.${API_GROUP}`,
      ...(kind.labels ? { labels: { ...kind.labels } } : {}),
    },
    spec: {
      group: API_GROUP,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        ...(kind.shortNames.length > 0 ? { shortNames: kind.shortNames } : {}),
        categories: kind.categories,
      },
      scope: kind.scope,
      versions: [{
        name: API_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: kind.columns.map(printerColumn),
        schema: { openAPIV3Schema: objectSchema(kind) },
      }],
    },
  };
}

function printerColumn(column: Column): Record<string, unknown> {
  const { name, type, jsonPath, description, wide } = column;
  return { name, type, jsonPath, description, ...(wide ? { priority: 1 } : {}) };
}

/** The schema of a whole object of a kind. */
export function objectSchema(kind: Kind): StructuralSchema {
  return {
    description: kind.description,
    type: "object",
    required: ["spec"],
    "x-kubernetes-validations": [NAME_RULE, ...(kind.rules ?? [])],
    properties: {
      apiVersion: {
        description: `\`${API_GROUP}/${API_VERSION}\`.`,
        type: "string",
        maxLength: 253,
      },
      kind: { description: `\`${kind.kind}\`.`, type: "string", maxLength: 63 },
      metadata: { type: "object" },
      spec: structuralSchema(described(kind.spec, "What is asked for."), `${kind.kind}.spec`),
      status: structuralSchema(
        described(kind.status, "What is so; written by controllers alone."),
        `${kind.kind}.status`,
      ),
    },
  };
}

function described(schema: z.ZodType, fallback: string): z.ZodType {
  return schema.meta()?.description === undefined ? schema.describe(fallback) : schema;
}
