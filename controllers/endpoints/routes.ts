/**
 * What the routes that name a TailscaleEndpoints say about it.
 *
 * @module
 */
import { keyOf } from "../../core/object.ts";
import type { HTTPRoute, ReferenceGrant } from "../../api/gateway_api.ts";
import { HTTP_ROUTE, REFERENCE_GRANT } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import type { EndpointsView, Problem } from "../../backends/endpoints.ts";
import { parentGateways, routeProblems } from "../../backends/routes.ts";
import { Index, parentValue } from "../indexes.ts";
import type { World } from "../world.ts";
import { viewOf } from "./view.ts";

/** What the routes that name the object say. */
export interface RoutesObserved {
  readonly count: number;
  /** Why references of theirs lead nowhere. */
  readonly problems: readonly Problem[];
  /** Gateways of those routes for which Envoy Gateway never called the hooks. */
  readonly uncalled: readonly string[];
}

/** Looks at the routes that name the object. */
export function observeRoutes(world: World, view: EndpointsView): RoutesObserved {
  const { objects } = world;
  const { kind, metadata } = view.object;
  const key = keyOf(view.object);
  const value = parentValue(kind, metadata.namespace, metadata.name);
  const routes = objects.byIndex<HTTPRoute>(HTTP_ROUTE, Index.backend, value);
  const sources = {
    grants: objects.list<ReferenceGrant>(REFERENCE_GRANT),
    endpoints: (other: string) => {
      if (other === key) return view;
      const found = objects.get<TailscaleEndpoints>(TailscaleEndpoints.resource, other);
      return found && viewOf(world, found);
    },
  };
  const problems = routes.flatMap((route) => routeProblems(route, key, sources));
  return { count: routes.length, problems, uncalled: uncalledGateways(world, routes) };
}

/**
 * Gateways for which Envoy Gateway has not called the hooks: it neither did so
 * in this process' life, nor ever put its status on the Gateway's revision.
 */
function uncalledGateways(world: World, routes: readonly HTTPRoute[]): string[] {
  if (world.hooks.lastCallAt !== undefined) return [];
  const gateways = new Set(routes.flatMap(parentGateways));
  return [...gateways].filter((gateway) => {
    const revision = world.objects.get<TailscaleGatewayRevision>(
      TailscaleGatewayRevision.resource,
      gateway,
    );
    return !revision?.status?.ancestors?.length;
  }).sort();
}
