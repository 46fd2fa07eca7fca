/**
 * Bodies in Kubernetes' protobuf: `kubectl create` sends them without asking
 * whether they are understood. Just the kinds that it makes from its flags, and
 * of these just what its flags can say.
 *
 * @module
 */
import protobuf from "protobufjs/light.js";
import { isMap, type Json, type JsonMap } from "./json.ts";

/** The media type of such bodies. */
export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** Every body begins with it. */
const MAGIC = [0x6b, 0x38, 0x73, 0x00]; // "k8s\0"

const text = (id: number) => ({ id, type: "string" });
const texts = (id: number, type = "string") => ({ id, type, keyType: "string" });
const metadata = { id: 1, type: "ObjectMeta" };

/** Field numbers of `k8s.io/apimachinery` and `k8s.io/api/core/v1`, in `generated.proto`. */
const TYPES = protobuf.Root.fromJSON({
  nested: {
    TypeMeta: { fields: { apiVersion: text(1), kind: text(2) } },
    Unknown: { fields: { typeMeta: { id: 1, type: "TypeMeta" }, raw: { id: 2, type: "bytes" } } },
    ObjectMeta: {
      fields: {
        name: text(1),
        generateName: text(2),
        namespace: text(3),
        labels: texts(11),
        annotations: texts(12),
      },
    },
    Namespace: { fields: { metadata } },
    ServiceAccount: { fields: { metadata } },
    ConfigMap: { fields: { metadata, data: texts(2), binaryData: texts(3, "bytes") } },
    Secret: {
      fields: { metadata, data: texts(2, "bytes"), type: text(3), stringData: texts(4) },
    },
  },
});

const KINDS = ["Namespace", "ServiceAccount", "ConfigMap", "Secret"];

/** The object in a body; undefined when it is of another kind, or no such body. */
export function decodeProtobuf(body: Uint8Array): JsonMap | undefined {
  if (!MAGIC.every((byte, i) => body[i] === byte)) return undefined;
  try {
    const envelope = decode(TYPES.lookupType("Unknown"), body.subarray(MAGIC.length));
    const { kind, apiVersion } = envelope["typeMeta"] as Record<string, string>;
    if (apiVersion !== "v1" || kind === undefined || !KINDS.includes(kind)) return undefined;
    const type = TYPES.lookupType(kind);
    const object = type.toObject(type.decode(envelope["raw"] as Uint8Array), { bytes: String });
    return { apiVersion, kind, ...withoutEmpty(object) };
  } catch {
    return undefined; // truncated, or not what it says: the caller refuses it
  }
}

function decode(type: protobuf.Type, bytes: Uint8Array): Record<string, unknown> {
  return type.decode(bytes) as unknown as Record<string, unknown>;
}

/** Without empty texts: protobuf has them for what was not said. */
function withoutEmpty(value: Record<string, unknown>): JsonMap {
  const entries = Object.entries(value).filter(([, item]) => item !== "").map(([name, item]) => {
    const nested = name === "metadata" && isMap(item) ? withoutEmpty(item) : item as Json;
    return [name, nested] as const;
  });
  return Object.fromEntries(entries);
}
