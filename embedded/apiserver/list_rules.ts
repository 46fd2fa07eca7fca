/**
 * Which lists are maps or sets, and which maps are atomic: what the real API
 * server knows from its schemas, kept here for the well-known fields; those of our
 * own kinds come from their CRDs.
 *
 * @module
 */
import { customList } from "./custom_lists.ts";
import { isMap, type Json } from "./json.ts";
import type { ServedType } from "./types.ts";

/** How a list is merged: as a whole, as a set of scalars, or by the keys of its items. */
export type ListRule =
  | { readonly list: "atomic" }
  | { readonly list: "set" }
  | { readonly list: "map"; readonly keys: readonly ListKey[] };

/** A member that identifies an item, with the value that its absence means. */
export interface ListKey {
  readonly name: string;
  readonly absent?: Json;
}

const ATOMIC: ListRule = { list: "atomic" };
const SET: ListRule = { list: "set" };
const NAME = by("name");

/** Keyed by those members; one that is absent counts as the empty text. */
function by(...names: (string | ListKey)[]): ListRule {
  const keys = names.map((key) => typeof key === "string" ? { name: key, absent: "" } : key);
  return { list: "map", keys };
}

/** Lists of every kind. */
const COMMON: Readonly<Record<string, ListRule>> = {
  "metadata.ownerReferences": by("uid"),
  "metadata.finalizers": SET,
  "status.conditions": by("type"),
};

/** Lists of a container, which hang below three lists of a pod's spec. */
const CONTAINER: Readonly<Record<string, ListRule>> = {
  env: NAME,
  ports: by({ name: "containerPort", absent: 0 }, { name: "protocol", absent: "TCP" }),
  volumeMounts: by("mountPath"),
  volumeDevices: by("devicePath"),
  "resources.claims": NAME,
};

const POD: Readonly<Record<string, ListRule>> = {
  "spec.volumes": NAME,
  "spec.imagePullSecrets": NAME,
  "spec.hostAliases": by("ip"),
  "spec.topologySpreadConstraints": by("topologyKey", "whenUnsatisfiable"),
  "spec.schedulingGates": NAME,
  ...Object.fromEntries(
    ["spec.containers", "spec.initContainers", "spec.ephemeralContainers"].flatMap((containers) => [
      [containers, NAME],
      ...Object.entries(CONTAINER).map(([list, rule]) => [`${containers}.${list}`, rule]),
    ]),
  ),
};

const BY_KIND: Readonly<Record<string, Readonly<Record<string, ListRule>>>> = {
  Pod: { ...POD, "status.podIPs": by("ip"), "status.hostIPs": by("ip") },
  Service: { "spec.ports": by({ name: "port", absent: 0 }, { name: "protocol", absent: "TCP" }) },
  ServiceAccount: { secrets: NAME },
  Gateway: {
    "spec.listeners": NAME,
    "status.listeners": NAME,
    "status.listeners.conditions": by("type"),
  },
  GatewayClass: { "status.supportedFeatures": NAME },
};

/** Names of atomic maps in built-in kinds (`x-kubernetes-map-type: atomic`). */
const ATOMIC_MAPS = new Set([
  "selector",
  "nodeSelector",
  "labelSelector",
  "podSelector",
  "namespaceSelector",
  "roleRef",
  "configMapKeyRef",
  "secretKeyRef",
  "fieldRef",
  "resourceFieldRef",
  "involvedObject",
  "regarding",
]);

/** What is known of the fields of one kind; paths leave list items out. */
export class FieldRules {
  readonly #type: Pick<ServedType, "group" | "kind" | "builtin">;

  constructor(type: Pick<ServedType, "group" | "kind" | "builtin">) {
    this.#type = type;
  }

  /** Is the kind compiled into the real server? */
  get builtin(): boolean {
    return this.#type.builtin === true;
  }

  /** The rule of the list at that path, such as `["spec", "containers", "env"]`. */
  list(path: readonly string[]): ListRule {
    const text = path.join(".");
    const common = COMMON[text];
    if (common) return common;
    const { group, kind, builtin } = this.#type;
    if (group === "gateway.tailscale.com") return customList(kind, text) ?? ATOMIC;
    if (builtin && text.startsWith("spec.template.")) {
      return POD[text.slice("spec.template.".length)] ?? ATOMIC;
    }
    return BY_KIND[kind]?.[text] ?? ATOMIC;
  }

  /** Is the map at that path owned and replaced as a whole? */
  isAtomicMap(path: readonly string[]): boolean {
    return this.#type.builtin === true && ATOMIC_MAPS.has(path[path.length - 1] ?? "");
  }
}

/** One item of a list that is merged by key, under its path element. */
export interface Item {
  readonly element: string;
  readonly value: Json;
}

/** A list that can't be what its rule says. */
export class ListError extends Error {
  override readonly name = "ListError";
}

/**
 * The items of a list with their path elements (`k:{"name":"a"}`, `v:"a"`), or
 * undefined when the list is atomic.
 *
 * @throws {ListError} when an item lacks a key, or two have the same.
 */
export function keyedItems(list: readonly Json[], rule: ListRule): Item[] | undefined {
  if (rule.list === "atomic") return undefined;
  const items: Item[] = [];
  const seen = new Set<string>();
  for (const [index, value] of list.entries()) {
    const element = rule.list === "set"
      ? `v:${JSON.stringify(value)}`
      : keyOfItem(value, rule.keys);
    if (element === undefined) throw new ListError(missingKey(index, rule));
    if (seen.has(element)) {
      throw new ListError(`duplicate entries for key ${elementText(element)}`);
    }
    seen.add(element);
    items.push({ element, value });
  }
  return items;
}

function missingKey(index: number, rule: ListRule): string {
  const name = rule.list === "map" ? rule.keys[0]?.name : "";
  return `element ${index}: associative list with keys has an element that omits key field "${name}"`;
}

function keyOfItem(item: Json, keys: readonly ListKey[]): string | undefined {
  if (!isMap(item)) return undefined;
  const sorted = [...keys].sort((a, b) => (a.name < b.name ? -1 : 1));
  const members: string[] = [];
  for (const { name, absent } of sorted) {
    const value = item[name] ?? absent;
    if (value === undefined) return undefined;
    members.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return `k:{${members.join(",")}}`;
}

/** A path as messages show it: `.spec.containers[name="a"].image`. */
export function pathText(path: readonly string[]): string {
  return path.map(elementText).join("");
}

/** A path element as messages show it: `.spec`, `[name="a"]`, `[="a"]`. */
function elementText(element: string): string {
  const content = element.slice(2);
  if (element.startsWith("f:")) return `.${content}`;
  if (element.startsWith("v:")) return `[=${content}]`;
  if (element.startsWith("i:")) return `[${content}]`;
  const keys = Object.entries(JSON.parse(content) as Record<string, Json>);
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(",")}]`;
}
