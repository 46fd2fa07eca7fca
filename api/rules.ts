/**
 * CEL rules on a field, beside the same test in TypeScript, so that an object is
 * refused for the same reason by the API server and without one.
 *
 * @module
 */

import type { z } from "zod";

/** A rule of a field: `self` in CEL and the argument of `holds` are its value. */
export interface FieldRule<T> {
  readonly rule: string;
  /** What is asked for, and what to do. */
  readonly message: string;
  /** The same rule in TypeScript; absent for rules over an update (`oldSelf`). */
  readonly holds?: (value: T) => boolean;
}

/** The extension of OpenAPI that carries CEL rules. */
export const VALIDATIONS = "x-kubernetes-validations";

/**
 * Adds rules to a schema. Put them on before `default` or `exactOptional`: rules
 * lie on the value, and are not asked when there is none.
 *
 * The API server asks CEL rules even when a pattern failed, and a rule that
 * cannot be evaluated adds an unreadable error: guard what a rule relies on.
 */
export function withRules<S extends z.ZodType>(
  schema: S,
  ...rules: readonly FieldRule<z.output<S>>[]
): S {
  let result = schema;
  for (const { holds, message } of rules) {
    if (holds) result = result.refine(holds, { error: message });
  }
  const earlier = (schema.meta() ?? {})[VALIDATIONS];
  const validations = [
    ...(Array.isArray(earlier) ? earlier : []),
    ...rules.map(({ rule, message }) => ({ rule, message })),
  ];
  return result.meta({ [VALIDATIONS]: validations });
}

/** The CEL rule of {@linkcode immutable}. */
export const IMMUTABLE = "self == oldSelf";

/** A field that cannot change once the object exists. */
export function immutable<S extends z.ZodType>(schema: S, field: string): S {
  return withRules(schema, {
    rule: IMMUTABLE,
    message: `${field} cannot be changed; delete the object and make a new one`,
  });
}
