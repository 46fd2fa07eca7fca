/**
 * Requests for objects: each method on collections, objects and subresources.
 *
 * @module
 */
import { apiVersionOf, type KubeObject } from "../../core/object.ts";
import type { Clock } from "../../core/clock.ts";
import { type Deleter, type Propagation } from "./deletion.ts";
import { badRequest, invalid, methodNotAllowed, unsupportedMediaType } from "./errors.ts";
import { asObject, isMap, type Json, type JsonMap, mapAt } from "./json.ts";
import { inVersion, listObjects } from "./list.ts";
import { FieldRules } from "./list_rules.ts";
import type { Writer } from "./managed_fields.ts";
import { jsonPatch, mergePatch } from "./patch.ts";
import { decodeProtobuf, PROTOBUF } from "./protobuf_body.ts";
import { isTrue, listQuery } from "./query.ts";
import type { ResourceRoute } from "./route.ts";
import { scaledTo, scaleOf } from "./scale.ts";
import type { Storage } from "./storage.ts";
import { strategicMergePatch } from "./strategic_patch.ts";
import { tableFor } from "./table.ts";
import type { TokenSigner } from "./tokens.ts";
import { type ServedType, typeId } from "./types.ts";
import { openWatch } from "./watch.ts";
import type { ObjectWriter, WriteContext } from "./writes.ts";

const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const PATCHES = [JSON_PATCH, MERGE, STRATEGIC, APPLY];
const JSON_TYPES = ["", "application/json", "*/*", "text/plain", ...PATCHES];

/** What requests work on. */
export interface ResourceParts {
  readonly storage: Storage;
  readonly writer: ObjectWriter;
  readonly deleter: Deleter;
  readonly clock: Clock;
  readonly watches: Set<() => void>;
  readonly tokens: TokenSigner;
}

/** A request for objects. */
export interface Call {
  readonly request: Request;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  readonly params: URLSearchParams;
  readonly route: ResourceRoute;
}

/** Answers requests for objects. */
export class Resources {
  readonly #parts: ResourceParts;

  constructor(parts: ResourceParts) {
    this.#parts = parts;
  }

  /** @throws {ApiError} when the request is refused. */
  answer(call: Call): Promise<Response> {
    const { request, route, route: { name } } = call;
    if (name !== undefined && route.subresource === "token") {
      return this.#parts.tokens.answer(this.#parts.writer.live({ ...route, name }), request);
    }
    return name === undefined ? this.#collection(call) : this.#object(call, name);
  }

  async #collection(call: Call): Promise<Response> {
    const { request, params, route } = call;
    const { writer } = this.#parts;
    switch (request.method) {
      case "GET":
        if (isTrue(params.get("watch"))) return this.#watch(call);
        return this.#list(call);
      case "POST": {
        if (route.type.namespaced && route.namespace === undefined) throw methodNotAllowed();
        const body = await bodyMap(request);
        const object = writer.create(body, this.#context(call, "", "Update"));
        return respond(object, route, 201);
      }
      case "DELETE":
        return this.#deleteAll(call, await deleteBody(request));
      default:
        throw methodNotAllowed();
    }
  }

  async #object(call: Call, name: string): Promise<Response> {
    const { request, params, route } = call;
    const { writer } = this.#parts;
    switch (request.method) {
      case "GET":
        if (isTrue(params.get("watch"))) return this.#watch(call);
        return this.#get(call, writer.live({ ...route, name }));
      case "PUT": {
        const body = await bodyMap(request);
        const context = this.#context(call, name, "Update");
        if (route.subresource !== "scale") return respond(writer.update(body, context), route);
        return respond(writer.patch((live) => scaledTo(live, body), context), route);
      }
      case "PATCH":
        return await this.#patch(call, name);
      case "DELETE":
        if (route.subresource) throw methodNotAllowed();
        return this.#delete(call, name, await deleteBody(request));
      default:
        throw methodNotAllowed();
    }
  }

  #watch({ request, signal, params, route }: Call): Response {
    const { storage, clock, watches } = this.#parts;
    const table = tableFor(request, { route, params, clock });
    const parts = { storage, clock, signal, open: watches, ...(table ? { table } : {}) };
    return openWatch(parts, route, listQuery(params, route));
  }

  #list({ request, params, route }: Call): Response {
    const { storage, clock } = this.#parts;
    const list = listObjects(storage, route, listQuery(params, route));
    return Response.json(tableFor(request, { route, params, clock })?.ofList(list) ?? list);
  }

  #get({ request, params, route }: Call, object: KubeObject): Response {
    const table = tableFor(request, { route, params, clock: this.#parts.clock });
    return table && !route.subresource
      ? Response.json(table.ofObject(inVersion(object, route)))
      : respond(object, route);
  }

  async #patch(call: Call, name: string): Promise<Response> {
    const { request, params, route } = call;
    const media = mediaType(request);
    if (!PATCHES.includes(media)) throw unsupportedMediaType(media, PATCHES);
    const body = await bodyJson(request);
    const { writer } = this.#parts;
    if (media === APPLY && route.subresource !== "scale") return this.#apply(call, name, body);
    const context = this.#context(call, name, "Update");
    if (isTrue(params.get("force"))) throw forceNeedsApply();
    const change = patchOf(media, body, route.type);
    if (route.subresource !== "scale") return respond(writer.patch(change, context), route);
    const scaled = (live: JsonMap) => scaledTo(live, change(scaleOf(asObject(live))));
    return respond(writer.patch(scaled, context), route);
  }

  #apply(call: Call, name: string, body: Json): Response {
    const { params, route } = call;
    if (!isMap(body)) throw badRequest("error decoding YAML: the body must be an object");
    if (!params.get("fieldManager")) {
      throw invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
        "fieldManager: Required value: is required for apply patch",
      ]);
    }
    const context = { ...this.#context(call, name, "Apply"), force: isTrue(params.get("force")) };
    const { object, created } = this.#parts.writer.apply(body, context);
    return respond(object, route, created ? 201 : 200);
  }

  #delete(call: Call, name: string, body: JsonMap): Response {
    const { params, route } = call;
    const live = this.#parts.writer.live({ ...route, name });
    const { object, gone } = this.#parts.deleter.delete(route.type, live, options(params, body));
    if (!gone || RETURN_DELETED.has(typeId(route.type))) {
      return respond(object, route);
    }
    return Response.json(success(route.type, object));
  }

  #deleteAll(call: Call, body: JsonMap): Response {
    const { params, route } = call;
    const { storage, deleter } = this.#parts;
    const list = listObjects(storage, route, listQuery(params, route));
    const { matches } = listQuery(params, route);
    for (const object of storage.list(route.type, route.namespace).filter(matches)) {
      deleter.delete(route.type, object, options(params, body));
    }
    return Response.json(list);
  }

  #context({ request, params, route }: Call, name: string, operation: Writer["operation"]) {
    const subresource = route.subresource === "status" ? route.subresource : undefined;
    const writer: Writer = {
      manager: params.get("fieldManager") || userAgentName(request),
      operation,
      apiVersion: apiVersionOf({ group: route.type.group, version: route.version }),
      now: this.#parts.clock.now(),
      ...(subresource ? { subresource } : {}),
    };
    const dryRun = params.getAll("dryRun").includes("All");
    const { type, namespace } = route;
    return { type, namespace, name, subresource, writer, dryRun } satisfies WriteContext;
  }
}

/** Kinds whose deletion is answered with the object, not with a Status. */
const RETURN_DELETED = new Set(["pods", "services", "serviceaccounts"]);

function forceNeedsApply() {
  return invalid({ group: "meta.k8s.io", kind: "PatchOptions" }, "", [
    "force: Forbidden: may not be specified for non-apply patch",
  ]);
}

/** An object, or its scale, as the URL asks for it. */
function respond(object: KubeObject, route: ResourceRoute, status = 200): Response {
  const body = route.subresource === "scale" ? scaleOf(object) : inVersion(object, route);
  return Response.json(body, { status });
}

function patchOf(media: string, body: Json, type: ServedType): (live: JsonMap) => JsonMap {
  if (media === JSON_PATCH) return (live) => jsonPatch(live, body);
  if (media === STRATEGIC && !type.builtin) {
    throw unsupportedMediaType(media, PATCHES.filter((known) => known !== STRATEGIC));
  }
  if (!isMap(body)) throw badRequest("error decoding patch: the body must be an object");
  if (media === STRATEGIC) {
    return (live) => strategicMergePatch(live, body, new FieldRules(type));
  }
  return (live) => mergePatch(live, body) as JsonMap;
}

function userAgentName(request: Request): string {
  return (request.headers.get("user-agent") ?? "").split("/")[0]?.slice(0, 128) || "unknown";
}

function mediaType(request: Request): string {
  return (request.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
}

async function bodyJson(request: Request): Promise<Json> {
  const media = mediaType(request);
  if (media === PROTOBUF) {
    const object = decodeProtobuf(await request.bytes());
    if (object) return object;
  }
  if (!JSON_TYPES.includes(media)) throw unsupportedMediaType(media, JSON_TYPES.slice(1, 2));
  return parsed(await request.text());
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw badRequest(`the body of the request is not JSON: ${(cause as Error).message}`);
  }
}

async function bodyMap(request: Request): Promise<JsonMap> {
  const body = await bodyJson(request);
  if (!isMap(body)) throw badRequest("the body of the request must be an object");
  return body;
}

async function deleteBody(request: Request): Promise<JsonMap> {
  const text = await request.text();
  if (text.trim() === "") return {};
  const body = parsed(text);
  return isMap(body) ? body : {};
}

const PROPAGATIONS: readonly string[] = ["Foreground", "Background", "Orphan"];

function options(params: URLSearchParams, body: JsonMap) {
  const preconditions = mapAt(body, "preconditions");
  const wanted = params.get("propagationPolicy") ?? body["propagationPolicy"];
  const known = typeof wanted === "string" && PROPAGATIONS.includes(wanted);
  if (wanted && !known) {
    throw invalid({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [
      `propagationPolicy: Unsupported value: ${JSON.stringify(wanted)}: supported values: ` +
      PROPAGATIONS.map((name) => JSON.stringify(name)).join(", "),
    ]);
  }
  const text = (value: Json | undefined) => (typeof value === "string" ? value : undefined);
  const dryRun = params.getAll("dryRun").includes("All") ||
    (Array.isArray(body["dryRun"]) && body["dryRun"].includes("All"));
  return {
    uid: text(preconditions?.["uid"]),
    resourceVersion: text(preconditions?.["resourceVersion"]),
    propagation: known ? wanted as Propagation : undefined,
    dryRun,
  };
}

function success(type: ServedType, object: KubeObject): JsonMap {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name: object.metadata.name,
      ...(type.group === "" ? {} : { group: type.group }),
      kind: type.plural,
      uid: object.metadata.uid ?? "",
    },
  };
}
