/**
 * What the API server does with an object of ours at its door, without one:
 * fills in defaults, drops unknown fields, and refuses what breaks the schema or
 * a rule. `standalone` and tests use it; a suite compares it with the real one.
 *
 * @module
 */

import { z } from "zod";
import type { KubeObject } from "../core/object.ts";
import { NAME_RULE, objectSchema } from "./crd.ts";
import { DNS_1035 } from "./fields.ts";
import type { Kind } from "./kind.ts";
import { kindNamed } from "./registry.ts";
import { IMMUTABLE } from "./rules.ts";
import type { StructuralSchema } from "./structural.ts";

/** An object as it would be stored, or why it is refused: one line for each field. */
export type Admission<T> = { readonly object: T } | { readonly errors: readonly string[] };

/**
 * Admits an object; one of a kind that is not ours passes as it is.
 *
 * @param old the stored object when this is an update
 * @example
 * ```ts
 * import { admit } from "./admission.ts";
 * admit({
 *   apiVersion: "gateway.tailscale.com/v1alpha1",
 *   kind: "TailscaleTailnet",
 *   metadata: { name: "corp" },
 * }); // { errors: ["spec: Invalid input: expected object, received undefined"] }
 * ```
 */
export function admit<T extends KubeObject>(object: T, old?: T): Admission<T> {
  const kind = kindNamed(object.kind);
  if (!kind) return { object };
  const { name } = object.metadata;
  const named = name.length <= 63 && new RegExp(DNS_1035).test(name);
  const parsed = schemaOf(kind).safeParse(object);
  const errors = [
    ...(named ? [] : [NAME_RULE.message]),
    ...(parsed.success ? [] : parsed.error.issues.map(issueLine)),
    ...(old ? changedForGood(kind, { old, object }) : []),
  ];
  if (errors.length > 0) return { errors };
  return { object: { ...object, ...parsed.data } };
}

function schemaOf(kind: Kind) {
  return z.object({ spec: kind.spec, status: kind.status.exactOptional() });
}

function issueLine({ path, message }: z.core.$ZodIssue): string {
  return `${fieldPath(path)}: ${message}`;
}

/** `spec.ports[0].port` */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.map((part) => typeof part === "number" ? `[${part}]` : `.${String(part)}`)
    .join("").slice(1);
}

/** Fields that cannot change, and did. */
function changedForGood(kind: Kind, versions: { old: unknown; object: unknown }): string[] {
  const errors: string[] = [];
  for (const { path, message } of immutableFields(objectSchema(kind))) {
    const [before, after] = [valueAt(versions.old, path), valueAt(versions.object, path)];
    // As in CEL: a rule over an update is asked only where there was a value, and is one.
    if (before === undefined || after === undefined) continue;
    if (JSON.stringify(before) !== JSON.stringify(after)) {
      errors.push(`${path.join(".")}: ${message}`);
    }
  }
  return errors;
}

function* immutableFields(
  schema: StructuralSchema,
  path: readonly string[] = [],
): Generator<{ path: readonly string[]; message: string }> {
  for (const { rule, message } of schema["x-kubernetes-validations"] ?? []) {
    if (rule === IMMUTABLE) yield { path, message };
  }
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    yield* immutableFields(child, [...path, name]);
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const name of path) at = (at as Record<string, unknown> | undefined)?.[name];
  return at;
}
