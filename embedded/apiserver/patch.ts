/**
 * JSON merge patch (RFC 7386) and JSON patch (RFC 6902).
 *
 * @module
 */
import { ApiError, badRequest } from "./errors.ts";
import { clone, equal, isMap, type Json, type JsonMap, setMember } from "./json.ts";

/** The target with a merge patch applied; null removes, lists are replaced. */
export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isMap(patch)) return clone(patch);
  const result: JsonMap = isMap(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else setMember(result, name, mergePatch(result[name], value));
  }
  return result;
}

function unprocessable(why: string): ApiError {
  return new ApiError(
    422,
    "Invalid",
    `the server rejected our request due to an error in our request: ${why}`,
    {},
  );
}

function pointer(text: Json | undefined): string[] {
  if (typeof text !== "string" || (text !== "" && !text.startsWith("/"))) {
    throw badRequest(`error decoding patch: bad path ${JSON.stringify(text)}`);
  }
  return text.split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A container on the way and the last part of a pointer into it. */
interface Slot {
  readonly holder: Json[] | JsonMap;
  readonly name: string;
}

function slot(document: JsonMap, path: readonly string[]): Slot {
  const name = path[path.length - 1];
  if (name === undefined) throw unprocessable("the whole object can't be the target");
  let holder: Json = document;
  for (const part of path.slice(0, -1)) {
    const next = read({ holder: container(holder, path), name: part });
    if (next === undefined) throw unprocessable(`missing path: /${path.join("/")}`);
    holder = next;
  }
  return { holder: container(holder, path), name };
}

function container(value: Json, path: readonly string[]): Json[] | JsonMap {
  if (Array.isArray(value) || isMap(value)) return value;
  throw unprocessable(`missing path: /${path.join("/")}`);
}

/** An index into a list; -1 and below count from its end, as the real server has it. */
function index(list: readonly Json[], name: string, max: number): number {
  const number = /^(0|-?[1-9]\d*)$/.test(name) ? Number(name) : NaN;
  const at = number < 0 ? number + list.length : number;
  if (!(at >= 0 && at <= max)) throw unprocessable(`index out of bounds: ${name}`);
  return at;
}

function read({ holder, name }: Slot): Json | undefined {
  if (Array.isArray(holder)) return holder[index(holder, name, holder.length - 1)];
  return Object.hasOwn(holder, name) ? holder[name] : undefined;
}

function add({ holder, name }: Slot, value: Json): void {
  if (!Array.isArray(holder)) setMember(holder, name, value);
  else if (name === "-") holder.push(value);
  else holder.splice(index(holder, name, holder.length), 0, value);
}

function remove(at: Slot): Json {
  const old = read(at);
  if (old === undefined) throw unprocessable(`Unable to remove nonexistent key: ${at.name}`);
  if (Array.isArray(at.holder)) at.holder.splice(index(at.holder, at.name, at.holder.length), 1);
  else delete at.holder[at.name];
  return old;
}

function replace({ holder, name }: Slot, value: Json): void {
  if (Array.isArray(holder)) holder[index(holder, name, holder.length - 1)] = value;
  // A member that is missing is added, as the API server's library does.
  else setMember(holder, name, value);
}

function from(document: JsonMap, operation: JsonMap): Slot {
  return slot(document, pointer(operation["from"]));
}

function value(operation: JsonMap): Json {
  const value = operation["value"];
  if (value === undefined) throw badRequest("error decoding patch: an operation lacks its value");
  return clone(value);
}

function step(document: JsonMap, operation: Json): void {
  if (!isMap(operation)) throw badRequest("error decoding patch: an operation is not an object");
  const at = slot(document, pointer(operation["path"]));
  switch (operation["op"]) {
    case "add":
      return add(at, value(operation));
    case "remove":
      return void remove(at);
    case "replace":
      return replace(at, value(operation));
    case "move":
      return add(at, remove(from(document, operation)));
    case "copy":
      return add(at, clone(read(from(document, operation)) ?? null));
    case "test":
      if (equal(read(at) ?? null, operation["value"] ?? null)) return;
      throw unprocessable(`testing value ${operation["path"]} failed: test failed`);
    default:
      throw unprocessable(`unknown operation ${JSON.stringify(operation["op"])}`);
  }
}

/**
 * The target with a JSON patch applied: all operations or none.
 *
 * @throws {ApiError} 400 for a malformed patch, 422 when it does not fit the target.
 */
export function jsonPatch(target: JsonMap, operations: Json): JsonMap {
  if (!Array.isArray(operations)) throw badRequest("error decoding patch: it must be a list");
  const document = clone(target);
  for (const operation of operations) step(document, operation);
  return document;
}
