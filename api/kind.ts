/**
 * A kind of ours, from one definition: its TypeScript type, its CRD, its
 * `kubectl explain` text, its reference page and its printer columns.
 *
 * @module
 */

import type { z } from "zod";
import { apiVersionOf, type ObjectMeta, type ResourceType } from "../core/object.ts";

/** The API group of every kind of ours. */
export const API_GROUP = "gateway.tailscale.com";

/** The one version of it. */
export const API_VERSION = "v1alpha1";

/** A column of `kubectl get`. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  readonly jsonPath: string;
  readonly description: string;
  /** Shown only with `-o wide`. */
  readonly wide?: boolean;
}

/** A CEL rule over a whole object (`self` is the object). Rules of a field lie on its schema. */
export interface Rule {
  readonly rule: string;
  /** What is asked for, and what to do; shown to whoever wrote the object. */
  readonly message: string;
}

/** What a condition type says, and the reasons that it can have. */
export interface ConditionDoc<Reason extends string = string> {
  readonly meaning: string;
  readonly reasons: readonly Reason[];
}

/** What {@linkcode defineKind} takes. */
export interface KindDefinition<
  Name extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType,
> {
  readonly kind: Name;
  /** The plural name in URLs; the CRD is `<plural>.<group>`. */
  readonly plural: string;
  readonly scope: "Namespaced" | "Cluster";
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** What the kind is for: the first sentences of `kubectl explain` and of its reference. */
  readonly description: string;
  readonly spec: Spec;
  readonly status: Status;
  readonly columns: readonly Column[];
  readonly rules?: readonly Rule[];
  /** Labels of the CRD itself. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Condition types, with the reasons of each. */
  readonly conditions: Readonly<Record<string, ConditionDoc>>;
  /** The closed list of reasons, with a sentence for each. */
  readonly reasons: Readonly<Record<string, string>>;
  /** The spec of the example on the reference page. */
  readonly example: z.input<Spec>;
}

/** An object as the API server stores it, defaults filled in. */
export interface StoredObject<Name extends string, Spec, Status> {
  apiVersion: string;
  kind: Name;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** A kind of ours. */
export interface Kind<
  Name extends string = string,
  Spec extends z.ZodType = z.ZodType,
  Status extends z.ZodType = z.ZodType,
> extends KindDefinition<Name, Spec, Status> {
  readonly resource: ResourceType;
  /**
   * An object of the kind, with the defaults that the API server would fill in.
   *
   * @throws {z.ZodError} when the spec does not fit the schema.
   */
  create(
    metadata: ObjectMeta,
    spec: z.input<Spec>,
  ): StoredObject<Name, z.output<Spec>, z.output<Status>>;
}

/** The object type of a kind: `type Foo = KindOf<typeof Foo>`. */
export type KindOf<K> = K extends Kind<infer Name, infer Spec, infer Status>
  ? StoredObject<Name, z.output<Spec>, z.output<Status>>
  : never;

/** Defines a kind of the group; `registry.ts` lists them all. */
export function defineKind<
  Name extends string,
  Spec extends z.ZodType,
  Status extends z.ZodType,
>(definition: KindDefinition<Name, Spec, Status>): Kind<Name, Spec, Status> {
  const resource: ResourceType = {
    group: API_GROUP,
    version: API_VERSION,
    kind: definition.kind,
    plural: definition.plural,
    namespaced: definition.scope === "Namespaced",
  };
  return {
    ...definition,
    resource,
    create(metadata, spec) {
      return {
        apiVersion: apiVersionOf(resource),
        kind: definition.kind,
        metadata,
        spec: definition.spec.parse(spec),
      };
    },
  };
}

/**
 * The names of a documented list as constants, so that code cannot misspell them.
 *
 * @example
 * ```ts
 * import { namesOf } from "./kind.ts";
 * const Reason = namesOf({ Ready: "All is well." });
 * Reason.Ready; // "Ready"
 * ```
 */
export function namesOf<T extends Readonly<Record<string, unknown>>>(
  documented: T,
): { readonly [K in keyof T & string]: K } {
  const names: Record<string, string> = {};
  for (const name of Object.keys(documented)) names[name] = name;
  return names as { readonly [K in keyof T & string]: K };
}

/** Conditions whose reasons are checked against the kind's list of reasons. */
export function conditionsOf<Reason extends string>() {
  return <T extends Readonly<Record<string, ConditionDoc<Reason>>>>(conditions: T): T => conditions;
}

/** A printer column from a condition: its `status`, `reason` or `message`. */
export function conditionColumn(
  name: string,
  options: { condition: string; field: "status" | "reason" | "message"; wide?: boolean },
): Column {
  const { condition, field, wide } = options;
  return {
    name,
    type: "string",
    jsonPath: `.status.conditions[?(@.type=="${condition}")].${field}`,
    description: `The ${field} of the condition ${condition}.`,
    ...(wide ? { wide } : {}),
  };
}

/** The age of the object. */
export const AGE_COLUMN: Column = {
  name: "Age",
  type: "date",
  jsonPath: ".metadata.creationTimestamp",
  description: "When the object was created.",
};
