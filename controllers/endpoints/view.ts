/**
 * A TailscaleEndpoints as its backends are resolved from it.
 *
 * @module
 */
import { objectKey } from "../../core/object.ts";
import type { Service, StatefulSet } from "../../api/core_objects.ts";
import { SERVICE, STATEFUL_SET } from "../../api/resources.ts";
import type { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import {
  type ResolvedEndpointsSpec,
  withDefaults,
} from "../../api/tailscale_endpoints_defaults.ts";
import type { EndpointsView } from "../../backends/endpoints.ts";
import { CONNECT_PORT, serviceName, statefulSetName } from "../proxies/proxy_set.ts";
import type { World } from "../world.ts";
import { unsupported } from "./proxy_set.ts";

/** The view that hooks and status resolve backends from. */
export function viewOf(world: World, endpoints: TailscaleEndpoints): EndpointsView {
  const state = world.tailnets.get(endpoints.spec.tailnet);
  const spec = withDefaults(endpoints.spec);
  const proxy = readyProxy(world, endpoints);
  const refused = refusal(endpoints, spec);
  return {
    object: endpoints,
    spec,
    ...(state?.fetchedAt === undefined
      ? { told: toldAddresses(endpoints) }
      : { devices: state.devices }),
    ...(proxy ? { proxy } : {}),
    ...(refused ? { refused } : {}),
  };
}

/** The addresses of hosts that are named, by those names, as the status has them. */
function toldAddresses({ status }: TailscaleEndpoints): Map<string, string> {
  return new Map(
    (status?.endpointStatus ?? []).flatMap(({ source, tailscaleFQDN, tailscaleIP }) =>
      source === "Manual" && tailscaleFQDN && tailscaleIP ? [[tailscaleFQDN, tailscaleIP]] : []
    ),
  );
}

function refusal(
  { metadata }: TailscaleEndpoints,
  spec: ResolvedEndpointsSpec,
): EndpointsView["refused"] {
  if (metadata.deletionTimestamp) {
    return { reason: "Deleting", message: `TailscaleEndpoints ${metadata.name} is being deleted.` };
  }
  const message = unsupported(spec);
  return message ? { reason: "NotSupported", message } : undefined;
}

/** The CONNECT port of the egress proxies: their Service's address, while one of them is ready. */
function readyProxy({ objects }: World, { metadata }: TailscaleEndpoints): EndpointsView["proxy"] {
  const name = statefulSetName(metadata.name, "egress");
  const set = objects.get<StatefulSet>(STATEFUL_SET, objectKey(metadata.namespace, name));
  const service = objects.get<Service>(
    SERVICE,
    objectKey(metadata.namespace, serviceName(name)),
  );
  const address = service?.spec?.clusterIP;
  if (!address || address === "None" || !set?.status?.readyReplicas) return undefined;
  return { address, port: CONNECT_PORT };
}
