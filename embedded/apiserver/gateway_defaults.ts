/**
 * The defaults in the schemas of the Gateway API, as far as routes and Gateways
 * come back with them.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import { asObject, clone, fallback, fields, type JsonMap, mapAt, mapsIn } from "./json.ts";
import type { ServedType } from "./types.ts";

const GROUP = "gateway.networking.k8s.io";
const ANY_PATH: JsonMap = { type: "PathPrefix", value: "/" };

function references(rule: JsonMap): void {
  for (const ref of mapsIn(rule["backendRefs"])) {
    fallback(ref, { group: "", kind: "Service", weight: 1 });
  }
  for (const filter of mapsIn(rule["filters"])) {
    const mirrored = mapAt(mapAt(filter, "requestMirror"), "backendRef");
    if (mirrored) fallback(mirrored, { group: "", kind: "Service" });
    const redirect = mapAt(filter, "requestRedirect");
    if (redirect) fallback(redirect, { statusCode: 302 });
  }
}

function httpMatch(match: JsonMap): void {
  fallback(match, { path: ANY_PATH });
  const path = mapAt(match, "path");
  if (path) fallback(path, ANY_PATH);
  for (const list of ["headers", "queryParams"]) {
    for (const item of mapsIn(match[list])) fallback(item, { type: "Exact" });
  }
}

function grpcMatch(match: JsonMap): void {
  const method = mapAt(match, "method");
  if (method) fallback(method, { type: "Exact" });
  for (const header of mapsIn(match["headers"])) fallback(header, { type: "Exact" });
}

function routeDefaults(route: JsonMap): void {
  const spec = mapAt(route, "spec");
  if (!spec) return;
  for (const ref of mapsIn(spec["parentRefs"])) fallback(ref, { group: GROUP, kind: "Gateway" });
  const isHttp = route["kind"] === "HTTPRoute";
  if (isHttp) fallback(spec, { rules: [{}] });
  for (const rule of mapsIn(spec["rules"])) {
    references(rule);
    if (isHttp) fallback(rule, { matches: [{}] });
    mapsIn(rule["matches"]).forEach(isHttp ? httpMatch : grpcMatch);
  }
}

function gatewayDefaults(gateway: JsonMap): void {
  for (const listener of mapsIn(mapAt(gateway, "spec")?.["listeners"])) {
    fallback(listener, { allowedRoutes: {} });
    const allowed = mapAt(listener, "allowedRoutes");
    if (allowed) fallback(allowed, { namespaces: {} });
    const namespaces = mapAt(allowed, "namespaces");
    if (namespaces) fallback(namespaces, { from: "Same" });
    const tls = mapAt(listener, "tls");
    if (tls) fallback(tls, { mode: "Terminate" });
    for (const ref of mapsIn(tls?.["certificateRefs"])) {
      fallback(ref, { group: "", kind: "Secret" });
    }
  }
}

/** The object with the defaults of its schema, when it is of the Gateway API. */
export function gatewayApiDefaults(type: ServedType, object: KubeObject): KubeObject {
  const isRoute = type.kind.endsWith("Route");
  if (type.group !== GROUP || !(isRoute || type.kind === "Gateway")) return object;
  const copy = clone(fields(object));
  if (isRoute) routeDefaults(copy);
  else gatewayDefaults(copy);
  return asObject(copy);
}
