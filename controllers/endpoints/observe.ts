/**
 * What the TailscaleEndpoints controller looks at.
 *
 * @module
 */
import { type KubeObject, objectKey, type ResourceType } from "../../core/object.ts";
import type { HTTPRoute, ReferenceGrant } from "../../api/gateway_api.ts";
import {
  HTTP_ROUTE,
  NETWORK_POLICY,
  POD,
  REFERENCE_GRANT,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  STATEFUL_SET,
} from "../../api/resources.ts";
import { isControlledBy } from "../../core/labels.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { withDefaults } from "../../api/tailscale_endpoints_defaults.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import type { Problem } from "../../backends/endpoints.ts";
import { backendKey, isOurs, parentGateways, resolveRef } from "../../backends/routes.ts";
import { Index, parentValue } from "../indexes.ts";
import { labelValue } from "../../core/names.ts";
import { proxySetObjects, type TypedObject } from "../proxies/objects.ts";
import type { ProxySet } from "../proxies/proxy_set.ts";
import { configSecretName, replicaIndexOf, replicaName } from "../proxies/proxy_set.ts";
import type { PodObject, SecretObject, StatefulSetObject } from "../proxies/live.ts";
import { replicaState } from "../proxies/replica.ts";
import type { Failure, TailnetState, World } from "../world.ts";
import { proxySetOf } from "./proxy_set.ts";
import { viewOf } from "./view.ts";

/** The controller's name. */
export const NAME = "endpoints";

/** One replica: wanted, or left over. */
export interface ReplicaObserved {
  readonly index: number;
  readonly name: string;
  readonly stateSecret?: SecretObject;
  readonly configSecret?: SecretObject;
  readonly pod?: PodObject;
  readonly nodeId?: string;
}

/** The observation. */
export interface EndpointsObserved {
  readonly endpoints: TailscaleEndpoints;
  readonly tailnet?: TailscaleTailnet;
  readonly state?: TailnetState;
  /** False while nothing is known yet of the tailnet. */
  readonly tailnetKnown: boolean;
  readonly failure?: Failure;
  /** The proxies to run; undefined while the tailnet object is not there, or nothing can be run. */
  readonly set?: ProxySet;
  /** The live objects of the set by `kind/name`, whoever made them. */
  readonly live: ReadonlyMap<string, KubeObject>;
  /** StatefulSets that were made for the object. */
  readonly statefulSets: readonly StatefulSetObject[];
  readonly pods: readonly PodObject[];
  /** What else was made for the object: what may only go after the proxies. */
  readonly others: readonly TypedObject[];
  /** Wanted replicas and those left over, by index. */
  readonly replicas: readonly ReplicaObserved[];
  readonly routes: RoutesObserved;
}

/** What the routes that name the object say. */
export interface RoutesObserved {
  readonly count: number;
  /** Why references of theirs lead nowhere. */
  readonly problems: readonly Problem[];
  /** Gateways of those routes for which Envoy Gateway never called the hooks. */
  readonly uncalled: readonly string[];
}

/** The key of a live object in {@linkcode EndpointsObserved.live}. */
export function liveKey(type: Pick<ResourceType, "kind">, name: string): string {
  return `${type.kind}/${name}`;
}

/** Gathers what the plan decides on. */
export function observeEndpoints(world: World, key: string): EndpointsObserved | undefined {
  const { objects } = world;
  const endpoints = objects.get<TailscaleEndpoints>(TailscaleEndpoints.resource, key);
  if (!endpoints) return undefined;
  const tailnetName = endpoints.spec.tailnet;
  const tailnet = objects.get<TailscaleTailnet>(TailscaleTailnet.resource, tailnetName);
  const state = world.tailnets.get(tailnetName);
  const failure = world.failure(NAME, key);
  const set = tailnet && proxySetOf({
    endpoints,
    spec: withDefaults(endpoints.spec),
    tailnet,
    settings: world.settings,
  });
  const parent = parentOf(endpoints);
  const pods = objects.byIndex<PodObject>(POD, Index.parent, parent);
  return {
    endpoints,
    ...(tailnet ? { tailnet } : {}),
    ...(state ? { state } : {}),
    tailnetKnown: !tailnet || world.knowsTailnet(tailnetName),
    ...(failure ? { failure } : {}),
    ...(set ? { set } : {}),
    live: set ? liveObjects(world, set) : new Map(),
    statefulSets: objects.byIndex<StatefulSetObject>(STATEFUL_SET, Index.parent, parent),
    pods,
    others: othersOf(world, endpoints, parent),
    replicas: replicasOf(world, parent, { set, pods }),
    routes: observeRoutes(world, endpoints),
  };
}

function parentOf({ kind, metadata }: TailscaleEndpoints): string {
  return parentValue(kind, labelValue(metadata.namespace ?? ""), labelValue(metadata.name));
}

function liveObjects({ objects }: World, set: ProxySet): Map<string, KubeObject> {
  const live = new Map<string, KubeObject>();
  for (const { type, object } of proxySetObjects(set)) {
    const { name, namespace } = object.metadata;
    const found = objects.get(type, objectKey(namespace, name));
    if (found) live.set(liveKey(type, name), found);
  }
  return live;
}

const OTHER_TYPES = [SERVICE, NETWORK_POLICY, ROLE_BINDING, ROLE, SERVICE_ACCOUNT];

function othersOf(
  { objects }: World,
  endpoints: TailscaleEndpoints,
  parent: string,
): TypedObject[] {
  return OTHER_TYPES.flatMap((type) =>
    objects.byIndex(type, Index.parent, parent)
      .filter((object) => isControlledBy(object.metadata, endpoints))
      .map((object) => ({ type, object }))
  );
}

/** Replicas by index: from the Secrets that were made for the object, and from what is wanted. */
function replicasOf(
  { objects }: World,
  parent: string,
  { set, pods }: { set: ProxySet | undefined; pods: readonly PodObject[] },
): ReplicaObserved[] {
  const secrets = objects.byIndex<SecretObject>(SECRET, Index.parent, parent);
  const bases = new Map<string, { statefulSet: string; index: number }>();
  for (const { metadata } of secrets) {
    const statefulSet = metadata.labels?.["app.kubernetes.io/instance"] ?? "";
    const index = replicaIndexOf(statefulSet, metadata.name);
    if (index !== undefined) bases.set(replicaName(statefulSet, index), { statefulSet, index });
  }
  for (let index = 0; set && index < set.replicas; index++) {
    bases.set(replicaName(set.name, index), { statefulSet: set.name, index });
  }
  const byName = new Map(secrets.map((secret) => [secret.metadata.name, secret]));
  const podByName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  return [...bases].map(([name, { statefulSet, index }]) => {
    const stateSecret = byName.get(name);
    const configSecret = byName.get(configSecretName(statefulSet, index));
    const pod = podByName.get(name);
    const { nodeId } = replicaState(stateSecret);
    return {
      index,
      name,
      ...(stateSecret ? { stateSecret } : {}),
      ...(configSecret ? { configSecret } : {}),
      ...(pod ? { pod } : {}),
      ...(nodeId ? { nodeId } : {}),
    };
  }).sort((a, b) => a.index - b.index || (a.name < b.name ? -1 : 1));
}

function observeRoutes(world: World, endpoints: TailscaleEndpoints): RoutesObserved {
  const { kind, metadata } = endpoints;
  const value = parentValue(kind, metadata.namespace, metadata.name);
  const routes = world.objects.byIndex<HTTPRoute>(HTTP_ROUTE, Index.backend, value);
  const grants = world.objects.list<ReferenceGrant>(REFERENCE_GRANT);
  const key = objectKey(metadata.namespace, metadata.name);
  const problems = routes.flatMap((route) =>
    (route.spec.rules ?? []).flatMap((rule) => rule.backendRefs ?? [])
      .filter((ref) => isOurs(ref) && backendKey(route, ref) === key)
      .flatMap((ref) => {
        const resolution = resolveRef(route, ref, {
          grants,
          endpoints: (other) => other === key ? viewOf(world, endpoints) : undefined,
        });
        return "problem" in resolution ? [resolution.problem] : [];
      })
  );
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
