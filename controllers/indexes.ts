/**
 * The indexes that observations read, by type: how the cache finds an object's
 * relatives without walking through all of them.
 *
 * @module
 */
import type { KubeObject, ResourceType } from "../core/object.ts";
import { objectKey } from "../core/object.ts";
import { GROUP, Label } from "../core/labels.ts";
import type { HTTPRoute } from "../api/gateway_api.ts";
import { HTTP_ROUTE, SECRET } from "../api/resources.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { parentGateways } from "../backends/routes.ts";

/** Names of indexes. */
export const Index = {
  /** Objects of a tailnet, by the name of its TailscaleTailnet. */
  tailnet: "tailnet",
  /** Objects that the operator made, by `kind/namespace/name` of their parent. */
  parent: "parent",
  /** Routes, by `kind/namespace/name` of the objects of ours that they name. */
  backend: "backend",
  /** Routes, by `namespace/name` of the Gateways that they attach to. */
  gateway: "gateway",
} as const;

type IndexFunction = (object: KubeObject) => readonly string[];

/** The value of {@linkcode Index.parent}. */
export function parentValue(kind: string, namespace: string | undefined, name: string): string {
  return `${kind}/${objectKey(namespace, name)}`;
}

const byParent: IndexFunction = ({ metadata }) => {
  const labels = metadata.labels;
  const kind = labels?.[Label.parentKind];
  const name = labels?.[Label.parentName];
  return kind && name ? [parentValue(kind, labels[Label.parentNamespace], name)] : [];
};

const byTailnetLabel: IndexFunction = ({ metadata }) => {
  const tailnet = metadata.labels?.[Label.tailnet];
  return tailnet ? [tailnet] : [];
};

/** The backendRefs of a route that name one of our kinds, as index values. */
export function backendValues(route: HTTPRoute): string[] {
  const refs = (route.spec?.rules ?? []).flatMap((rule) => rule.backendRefs ?? []);
  return refs.filter((ref) => ref.group === GROUP).map((ref) =>
    parentValue(ref.kind ?? "", ref.namespace ?? route.metadata.namespace, ref.name)
  );
}

/** The indexes of a type. */
export function indexesOf(type: ResourceType): Record<string, IndexFunction> {
  switch (type.kind) {
    case TailscaleEndpoints.resource.kind:
      return {
        [Index.tailnet]: (object) => [(object as TailscaleEndpoints).spec.tailnet],
      };
    case SECRET.kind:
      return { [Index.tailnet]: byTailnetLabel, [Index.parent]: byParent };
    case HTTP_ROUTE.kind:
      return {
        [Index.backend]: (object) => backendValues(object as HTTPRoute),
        [Index.gateway]: (object) => parentGateways(object as HTTPRoute),
      };
    default:
      return { [Index.parent]: byParent };
  }
}
