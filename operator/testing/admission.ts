/**
 * What a real API server knows of kinds from their CRDs, for tests.
 *
 * @module
 */
import { assert } from "@std/assert";
import { apiVersionOf, type KubeObject, type ResourceType } from "../../core/object.ts";
import { admit } from "../../api/admission.ts";
import { KINDS } from "../../api/registry.ts";
import * as resources from "../../api/resources.ts";

const TYPES: ReadonlyMap<string, ResourceType> = new Map(
  [...KINDS.map(({ resource }) => resource), ...Object.values(resources).flat()]
    .filter((value): value is ResourceType => typeof value === "object")
    .map((type) => [`${apiVersionOf(type)}/${type.kind}`, type]),
);

/** The type of an object. */
export function typeOf(
  { apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">,
): ResourceType {
  const type = TYPES.get(`${apiVersion}/${kind}`);
  assert(type, `no type ${apiVersion}/${kind}`);
  return type;
}

/** What the schema has against an object. */
export function errorsOf(object: KubeObject): readonly string[] {
  const admission = admit(object);
  return "errors" in admission ? admission.errors : [];
}

/** The object with the defaults of its schema. */
export function admitted(object: KubeObject): KubeObject {
  const admission = admit(object);
  return "object" in admission ? admission.object : object;
}
