/**
 * Lists, whole or in pages.
 *
 * @module
 */
import { apiVersionOf, keyOf, type KubeObject } from "../../core/object.ts";
import { ApiError, badRequest, expired, tooLargeResourceVersion } from "./errors.ts";
import { inFormOf } from "./event_forms.ts";
import { fields, isMap, type Json, type JsonMap } from "./json.ts";
import type { ListQuery } from "./query.ts";
import type { ResourceRoute } from "./route.ts";
import type { Storage } from "./storage.ts";

/** Where the next page starts: after a key, as of a resourceVersion. */
interface ContinueToken {
  readonly rv: number;
  readonly start: string;
}

/**
 * Answers a list.
 *
 * @throws {ApiError} 410 when its resourceVersion or continue token is forgotten.
 */
export function listObjects(storage: Storage, route: ResourceRoute, query: ListQuery): JsonMap {
  const token = query.continue === undefined ? undefined : decodeToken(query.continue);
  const wanted = query.resourceVersion ?? 0;
  if (wanted > storage.rv) throw tooLargeResourceVersion(wanted, storage.rv);
  const exact = query.resourceVersionMatch === "Exact" ? wanted : undefined;
  const rv = token?.rv ?? exact ?? storage.rv;
  const all = rv === storage.rv
    ? storage.list(route.type, route.namespace)
    : snapshot(storage, route, rv);
  const start = token?.start ?? "";
  const rest = all.filter((object) => query.matches(object) && keyOf(object) > start);
  // Version 0 is answered from the real server's cache, which knows no pages.
  const paged = query.limit > 0 && query.resourceVersion !== 0;
  const page = paged ? rest.slice(0, query.limit) : rest;
  const last = page[page.length - 1];
  const metadata: JsonMap = {
    resourceVersion: String(rv),
    ...(route.type.builtin ? {} : { continue: "" }),
  };
  if (last && page.length < rest.length) {
    metadata["continue"] = encodeToken({ rv, start: keyOf(last) });
    // The real server does not count what a selector leaves out.
    if (!query.selective) metadata["remainingItemCount"] = rest.length - page.length;
  }
  return {
    kind: `${route.type.kind}List`,
    apiVersion: apiVersionOf({ group: route.type.group, version: route.version }),
    metadata,
    items: page.map((object) => itemOf(object, route)),
  };
}

function snapshot(storage: Storage, route: ResourceRoute, rv: number): KubeObject[] {
  try {
    return storage.listAt(route.type, rv);
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    throw expired(
      "The provided continue parameter is too old to display a consistent list result. You can " +
        "start a new list without the continue parameter.",
    );
  }
}

/** An object as its URL's version shows it. */
export function inVersion(stored: KubeObject, route: ResourceRoute): JsonMap {
  const object = inFormOf(route.type, stored);
  const apiVersion = apiVersionOf({ group: route.type.group, version: route.version });
  return apiVersion === object.apiVersion ? fields(object) : { ...fields(object), apiVersion };
}

/** Items of built-in kinds come without apiVersion and kind, as from the real server. */
function itemOf(object: KubeObject, route: ResourceRoute): JsonMap {
  if (!route.type.builtin) return inVersion(object, route);
  const { apiVersion: _a, kind: _k, ...rest } = inVersion(object, route);
  return rest;
}

function encodeToken(token: ContinueToken): string {
  const text = JSON.stringify({ v: "meta.k8s.io/v1", ...token });
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function decodeToken(text: string): ContinueToken {
  const token = parseToken(text);
  if (isMap(token) && typeof token["rv"] === "number" && typeof token["start"] === "string") {
    return { rv: token["rv"], start: token["start"] };
  }
  throw badRequest("continue key is not valid");
}

function parseToken(text: string): Json {
  try {
    return JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/"))) as Json;
  } catch {
    return null; // whatever it is, it is no token
  }
}
