/**
 * The answer of a hook that has one object and nothing to change in it.
 *
 * @module
 */
import { FieldCursor, LEN } from "../wire/fields.ts";
import { Splicer } from "../wire/splicer.ts";
import type { HookResult } from "./hook.ts";
import { RevisionReader } from "./revisions.ts";

/**
 * Echoes field 1, the object, and reads the revisions in field 2, the context.
 *
 * The object is always echoed: where Envoy Gateway has several extensions, an unset
 * object hands nothing to the next one (its composite_hook_client.go).
 *
 * @param resourceFields The context's fields that hold Kubernetes objects.
 */
export function echoObject(request: Uint8Array, resourceFields: readonly number[]): HookResult {
  const response = new Splicer(request);
  const reader = new RevisionReader(request);
  const field = new FieldCursor(request);
  while (field.next()) {
    if (field.wireType !== LEN) continue;
    if (field.number === 1) response.keep(field.start, field.end);
    if (field.number === 2) {
      reader.readContext({ start: field.valueStart, end: field.end }, resourceFields);
    }
  }
  return {
    response: response.finish(),
    facts: { revisions: reader.revisions, counts: { malformedResources: reader.malformed } },
  };
}
