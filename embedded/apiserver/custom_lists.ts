/**
 * Which lists of our own kinds are maps or sets, from the schemas of their CRDs.
 *
 * @module
 */
import { objectSchema } from "../../api/crd.ts";
import { kindNamed } from "../../api/registry.ts";
import type { StructuralSchema } from "../../api/structural.ts";
import type { Json } from "./json.ts";
import type { ListRule } from "./list_rules.ts";

type Lists = ReadonlyMap<string, ListRule>;

const NONE: Lists = new Map();
/** Made when first asked for, since schemas are costly to build. */
const known = new Map<string, Lists>();

/** The rule of the list at that path of a kind of ours; undefined where it is atomic. */
export function customList(kind: string, path: string): ListRule | undefined {
  let lists = known.get(kind);
  if (!lists) {
    const definition = kindNamed(kind);
    lists = definition ? new Map(listsOf(objectSchema(definition))) : NONE;
    known.set(kind, lists);
  }
  return lists.get(path);
}

/** Every list below a schema that is no atomic one, by its path without items. */
function* listsOf(
  schema: StructuralSchema,
  path: readonly string[] = [],
): Generator<[path: string, rule: ListRule]> {
  for (const [name, child] of Object.entries(schema.properties ?? {})) {
    const at = [...path, name];
    const rule = ruleOf(child);
    if (rule) yield [at.join("."), rule];
    yield* listsOf(child, at);
    if (child.items) yield* listsOf(child.items, at);
  }
}

function ruleOf(schema: StructuralSchema): ListRule | undefined {
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") return { list: "set" };
  if (type !== "map") return undefined;
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return {
    list: "map",
    keys: keys.map((name) => {
      const absent = schema.items?.properties?.[name]?.default;
      return absent === undefined ? { name } : { name, absent: absent as Json };
    }),
  };
}
