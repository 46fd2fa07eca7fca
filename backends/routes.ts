/**
 * From route rules to backends: which rules are ours, and what they come to.
 *
 * @module
 */
import { GROUP } from "../core/labels.ts";
import { deepEqual } from "../core/equal.ts";
import { objectKey } from "../core/object.ts";
import type { BackendRef, HTTPRoute, ReferenceGrant } from "../api/gateway_api.ts";
import { GATEWAY_GROUP } from "../api/resources.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import type { Backend, Upstream } from "./backend.ts";
import {
  type BackendResolution,
  type EndpointsView,
  type Problem,
  resolveBackend,
} from "./endpoints.ts";

/** What resolving routes needs. */
export interface RouteSources {
  readonly routes: readonly HTTPRoute[];
  readonly grants: readonly ReferenceGrant[];
  /** The view of a TailscaleEndpoints by `namespace/name`; undefined where there is none. */
  readonly endpoints: (key: string) => EndpointsView | undefined;
}

/** A rule whose backends are all ours. */
export interface RouteBackend {
  readonly route: { readonly kind: "HTTPRoute"; readonly namespace: string; readonly name: string };
  /** Index of the rule in the route. */
  readonly rule: number;
  readonly backend: Backend;
  /** The Gateways that the route names as parents, as `namespace/name`. */
  readonly gateways: readonly string[];
}

/** Every rule of the routes whose backends are all ours, in the order of the routes. */
export function resolveRoutes(sources: RouteSources): RouteBackend[] {
  return sources.routes.flatMap((route) => {
    const { namespace = "", name } = route.metadata;
    const gateways = parentGateways(route);
    return (route.spec.rules ?? []).flatMap((rule, index) => {
      const refs = rule.backendRefs ?? [];
      if (refs.length === 0 || !refs.every(isOurs)) return [];
      const { backend } = resolveRule(route, refs, sources);
      return [{
        route: { kind: "HTTPRoute" as const, namespace, name },
        rule: index,
        backend,
        gateways,
      }];
    });
  });
}

/** The Gateways that a route names as parents, as `namespace/name`. */
export function parentGateways(route: HTTPRoute): string[] {
  const parents = (route.spec.parentRefs ?? [])
    .filter(({ group = GATEWAY_GROUP, kind = "Gateway" }) =>
      group === GATEWAY_GROUP && kind === "Gateway"
    )
    .map((ref) => objectKey(ref.namespace ?? route.metadata.namespace, ref.name));
  return [...new Set(parents)];
}

/** Does the backendRef name a TailscaleEndpoints? */
function isOurs(ref: BackendRef): boolean {
  return ref.group === GROUP && ref.kind === TailscaleEndpoints.resource.kind;
}

/** The `namespace/name` of what a backendRef of the route names. */
function backendKey(route: HTTPRoute, ref: BackendRef): string {
  return objectKey(ref.namespace ?? route.metadata.namespace, ref.name);
}

/** What stands for a rule whose references lead nowhere: nothing, rather than what was before. */
const NOTHING: Backend = { protocol: "HTTP", priorities: [[]] };

/** A reference that adds nothing to its rule, and why. */
interface RefProblem {
  readonly ref: BackendRef;
  readonly problem: Problem;
}

/** What the references of a rule come to together, and those that add nothing to it. */
function resolveRule(
  route: HTTPRoute,
  refs: readonly BackendRef[],
  sources: Pick<RouteSources, "grants" | "endpoints">,
): { readonly backend: Backend; readonly problems: readonly RefProblem[] } {
  const parts: { ref: BackendRef; backend: Backend; weight: number }[] = [];
  const problems: RefProblem[] = [];
  for (const ref of refs) {
    const weight = ref.weight ?? 1;
    const resolution = resolveRef(route, ref, sources);
    if ("problem" in resolution) problems.push({ ref, problem: resolution.problem });
    else if (weight > 0) parts.push({ ref, backend: resolution.backend, weight });
  }
  const first = parts[0];
  if (!first) return { backend: NOTHING, problems };
  // One cluster has one protocol and one health check: the first reference's stand.
  const alike = parts.filter(({ backend }) =>
    backend.protocol === first.backend.protocol &&
    deepEqual(backend.healthCheck, first.backend.healthCheck)
  );
  const unlike = parts.filter((part) => !alike.includes(part))
    .map(({ ref }) => ({ ref, problem: unlikeProblem(route, first.ref, ref) }));
  return {
    backend: { ...first.backend, priorities: [weighUpstreams(alike)] },
    problems: [...problems, ...unlike],
  };
}

function unlikeProblem(route: HTTPRoute, first: BackendRef, ref: BackendRef): Problem {
  return {
    reason: "MixedSettings",
    message: `${describe(route)}: TailscaleEndpoints ${backendKey(route, first)} and ` +
      `${backendKey(route, ref)} of one rule differ in protocol or healthCheck, so the first ` +
      "alone is used. Give them rules of their own.",
  };
}

/** Why references of the route to the object `key` lead nowhere. */
export function routeProblems(
  route: HTTPRoute,
  key: string,
  sources: Pick<RouteSources, "grants" | "endpoints">,
): Problem[] {
  const isNamed = (ref: BackendRef) => isOurs(ref) && backendKey(route, ref) === key;
  return (route.spec.rules ?? []).flatMap(({ backendRefs: refs = [] }) => {
    if (!refs.some(isNamed)) return [];
    if (!refs.every(isOurs)) return [mixedProblem(route, key)];
    return resolveRule(route, refs, sources).problems
      .filter(({ ref }) => isNamed(ref)).map(({ problem }) => problem);
  });
}

function mixedProblem(route: HTTPRoute, key: string): Problem {
  return {
    reason: "NotSupported",
    message: `${describe(route)} has TailscaleEndpoints ${key} and other kinds in one rule, ` +
      "which is not supported yet. Give them rules of their own.",
  };
}

function describe({ kind, metadata }: HTTPRoute): string {
  return `${kind} ${metadata.namespace}/${metadata.name}`;
}

function resolveRef(
  route: HTTPRoute,
  ref: BackendRef,
  sources: Pick<RouteSources, "grants" | "endpoints">,
): BackendResolution {
  const key = backendKey(route, ref);
  if (!isPermitted(route, ref, sources.grants)) {
    const message = `${
      describe(route)
    } names TailscaleEndpoints ${key}, and no ReferenceGrant there permits it.`;
    return { problem: { reason: "RefNotPermitted", message } };
  }
  const view = sources.endpoints(key);
  if (!view) {
    return {
      problem: { reason: "BackendNotFound", message: `TailscaleEndpoints ${key} is not there.` },
    };
  }
  return resolveBackend(view, ref.port);
}

/** May the route name that object: in its own namespace always, elsewhere by a ReferenceGrant there. */
function isPermitted(
  route: HTTPRoute,
  ref: BackendRef,
  grants: readonly ReferenceGrant[],
): boolean {
  const from = route.metadata.namespace;
  const to = ref.namespace ?? from;
  if (from === to) return true;
  return grants.some(({ metadata, spec }) =>
    metadata.namespace === to &&
    spec.from.some((f) =>
      f.group === GATEWAY_GROUP && f.kind === route.kind && f.namespace === from
    ) &&
    spec.to.some((t) =>
      t.group === GROUP && t.kind === ref.kind && (!t.name || t.name === ref.name)
    )
  );
}

/** Envoy sums weights in 32 bits; this leaves room for some thousand upstreams. */
const SCALE = 10_000;

/**
 * Upstreams of several references in one list: each reference gets its share
 * whatever the number and weights of its own upstreams.
 */
function weighUpstreams(
  parts: readonly { backend: Backend; weight: number }[],
): readonly Upstream[] {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only) return only.backend.priorities.flat();
  const total = parts.reduce((sum, part) => sum + part.weight, 0);
  return parts.flatMap(({ backend, weight }) => {
    const upstreams = backend.priorities.flat();
    const own = upstreams.reduce((sum, upstream) => sum + upstream.weight, 0);
    return upstreams.map((upstream) => ({
      ...upstream,
      weight: Math.max(1, Math.round(SCALE * (weight / total) * (upstream.weight / own))),
    }));
  });
}
