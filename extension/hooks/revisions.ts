/**
 * Finds the TailscaleGatewayRevisions among the Kubernetes objects that come with
 * a call: they say for which Gateway, and of which state of ours, the call is.
 *
 * @module
 */
import { FieldCursor, LEN, type Range, textOf } from "../wire/fields.ts";

/** A Gateway, and the `spec.revision` that was written for it. */
export interface GatewayRevision {
  /** `namespace/name` */
  readonly gateway: string;
  readonly revision: string;
}

const GROUP = "gateway.tailscale.com/";
const KIND = "TailscaleGatewayRevision";

/** Collects revisions from the contexts of a call. */
export class RevisionReader {
  readonly revisions: GatewayRevision[] = [];
  /** Resources that are no JSON object. */
  malformed = 0;

  constructor(readonly bytes: Uint8Array) {}

  /** Reads the `ExtensionResource` messages that a context has in the given fields. */
  readContext(context: Range, fields: readonly number[]): void {
    const field = new FieldCursor(this.bytes, context.start, context.end);
    while (field.next()) {
      if (field.wireType === LEN && fields.includes(field.number)) {
        this.#readResource({ start: field.valueStart, end: field.end });
      }
    }
  }

  #readResource(resource: Range): void {
    const field = new FieldCursor(this.bytes, resource.start, resource.end);
    while (field.next()) {
      if (field.number === 1 && field.wireType === LEN) {
        this.#readObject(textOf(this.bytes, field.valueStart, field.end));
      }
    }
  }

  #readObject(json: string): void {
    // Other extensions' objects may be large, and none of them is parsed.
    if (!json.includes(KIND)) return;
    const object = parseObject(json);
    if (!object) this.malformed++;
    else this.revisions.push(...revisionsOf(object));
  }
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    return asRecord(JSON.parse(json));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function revisionsOf(object: Record<string, unknown>): GatewayRevision[] {
  const { apiVersion, kind } = object;
  const spec = asRecord(object.spec), namespace = asRecord(object.metadata)?.namespace;
  if (kind !== KIND || typeof apiVersion !== "string" || !apiVersion.startsWith(GROUP)) return [];
  const revision = spec?.revision, targets = spec?.targetRefs;
  if (typeof revision !== "string" || typeof namespace !== "string") return [];
  if (!Array.isArray(targets)) return [];
  return targets.map(asRecord)
    .filter((target) => target?.kind === "Gateway" && typeof target.name === "string")
    .map((target) => ({ gateway: `${namespace}/${target!.name}`, revision }));
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : undefined;
}
