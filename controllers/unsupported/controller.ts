/**
 * The controller of a kind that has none of its own yet.
 *
 * @module
 */
import type { Kind } from "../../api/kind.ts";
import { TailscaleRoutePolicy } from "../../api/tailscale_route_policy.ts";
import { type Controller, defineController } from "../controller.ts";
import {
  planUnsupported,
  planUnsupportedPolicy,
  type Policy,
  type WithConditions,
} from "./status.ts";

/**
 * Says of each object of the kind that it is not supported.
 *
 * @param name the one that the kind's own controller will have, so that the status
 * then has the same field manager
 */
export function unsupportedController(name: string, kind: Kind): Controller {
  const type = kind.resource;
  const common = { name, type, mappings: [], makes: [], onlyStatus: true };
  if (kind.kind === TailscaleRoutePolicy.kind) {
    return defineController<Policy>({
      ...common,
      observe: ({ objects }, key) => objects.get(type, key),
      plan: planUnsupportedPolicy,
    });
  }
  return defineController<WithConditions>({
    ...common,
    observe: ({ objects }, key) => objects.get(type, key),
    plan: planUnsupported,
  });
}
