/**
 * The TailscaleEndpoints controller.
 *
 * @module
 */
import { Label } from "../../core/labels.ts";
import { keyOf, type KubeObject, objectKey } from "../../core/object.ts";
import type { HTTPRoute } from "../../api/gateway_api.ts";
import * as resources from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import { defineController, type Mapping } from "../controller.ts";
import { backendValues, Index } from "../indexes.ts";
import type { World } from "../world.ts";
import { NAME, observeEndpoints } from "./observe.ts";
import { planEndpoints } from "./plan.ts";

const KIND = TailscaleEndpoints.resource.kind;

/** What the operator makes says whom it was made for. */
function parentKey({ metadata }: KubeObject): string[] {
  const labels = metadata.labels ?? {};
  const name = labels[Label.parentName];
  return labels[Label.parentKind] === KIND && name
    ? [objectKey(labels[Label.parentNamespace], name)]
    : [];
}

function backendsOf(route: KubeObject): string[] {
  return backendValues(route as HTTPRoute)
    .filter((value) => value.startsWith(`${KIND}/`))
    .map((value) => value.slice(KIND.length + 1));
}

function keysOfTailnet(tailnet: string, world: World): string[] {
  return world.objects.byIndex(TailscaleEndpoints.resource, Index.tailnet, tailnet).map(keyOf);
}

const MAKES = [
  resources.STATEFUL_SET,
  resources.SERVICE,
  resources.SERVICE_ACCOUNT,
  resources.ROLE,
  resources.ROLE_BINDING,
  resources.NETWORK_POLICY,
  resources.SECRET,
];

/** The pods of its StatefulSets. */
const PATCHES = [resources.POD];

const mappings: Mapping[] = [
  ...[...MAKES, ...PATCHES].map((type) => ({ type, keys: parentKey })),
  {
    type: TailscaleTailnet.resource,
    keys: (tailnet, world) => keysOfTailnet(tailnet.metadata.name, world),
  },
  {
    type: resources.NAMESPACE,
    keys: ({ metadata }, { objects }) =>
      objects.list(TailscaleEndpoints.resource, metadata.name).map(keyOf),
  },
  { type: resources.HTTP_ROUTE, keys: backendsOf },
  {
    type: resources.REFERENCE_GRANT,
    keys: (_grant, world) => world.objects.list(TailscaleEndpoints.resource).map(keyOf),
  },
];

/** Runs the proxies of TailscaleEndpoints. */
export const endpointsController = defineController({
  name: NAME,
  type: TailscaleEndpoints.resource,
  mappings,
  makes: MAKES,
  patches: PATCHES,
  keysOfTailnet,
  followsHooks: true,
  observe: observeEndpoints,
  plan: planEndpoints,
  volatileStatus: ["lastSeen", "lastSync"],
});
