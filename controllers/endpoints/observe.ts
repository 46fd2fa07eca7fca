/**
 * What the TailscaleEndpoints controller looks at.
 *
 * @module
 */
import { isControlledBy, Label } from "../../core/labels.ts";
import { labelValue } from "../../core/names.ts";
import { type KubeObject, objectKey, type ResourceType } from "../../core/object.ts";
import type { Namespace, Pod, Secret, StatefulSet } from "../../api/core_objects.ts";
import {
  NAMESPACE,
  NETWORK_POLICY,
  POD,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE,
  SERVICE_ACCOUNT,
  STATEFUL_SET,
} from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import type { EndpointsView } from "../../backends/endpoints.ts";
import { Index, parentValue } from "../indexes.ts";
import { proxySetObjects, type TypedObject } from "../proxies/objects.ts";
import {
  configSecretName,
  type ProxySet,
  replicaIndexOf,
  replicaIndices,
  replicaName,
} from "../proxies/proxy_set.ts";
import { nodeIdsOf } from "../proxies/replica.ts";
import type { Failure, TailnetState, World } from "../world.ts";
import type { Applicant } from "./permission.ts";
import { proxySetOf } from "./proxy_set.ts";
import { observeRoutes, type RoutesObserved } from "./routes.ts";
import { viewOf } from "./view.ts";

/** The controller's name. */
export const NAME = "endpoints";

/** One replica: wanted, or left over. */
export interface ReplicaObserved {
  readonly index: number;
  readonly name: string;
  /** Is it one of those that are to run? */
  readonly wanted: boolean;
  readonly stateSecret?: Secret;
  readonly configSecret?: Secret;
  readonly pod?: Pod;
  /** Its devices, the present one first; empty before it has logged in. */
  readonly nodeIds: readonly string[];
}

/** The observation. */
export interface EndpointsObserved {
  readonly endpoints: TailscaleEndpoints;
  /** What its backends are resolved from. */
  readonly view: EndpointsView;
  readonly tailnet?: TailscaleTailnet;
  readonly state?: TailnetState;
  /** False while nothing is known yet of the tailnet. */
  readonly tailnetKnown: boolean;
  readonly failure?: Failure;
  /** As whom it asks the tailnet for leave. */
  readonly applicant: Applicant;
  /** The proxies to run; undefined while the tailnet object is not there, or nothing can be run. */
  readonly set?: ProxySet;
  /** What has the names that the set's objects need, by `kind/name`, whoever made it. */
  readonly live: ReadonlyMap<string, KubeObject>;
  /** StatefulSets that were made for the object. */
  readonly statefulSets: readonly StatefulSet[];
  readonly pods: readonly Pod[];
  /** What else was made for the object: what may only go after the proxies. */
  readonly others: readonly TypedObject[];
  /** Wanted replicas and those left over, by index. */
  readonly replicas: readonly ReplicaObserved[];
  readonly routes: RoutesObserved;
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
  const view = viewOf(world, endpoints);
  const set = tailnet && proxySetOf(view, tailnet, world.settings);
  const made = madeFor(world, endpoints);
  const pods = objects.byIndex<Pod>(POD, Index.parent, parentOf(endpoints));
  return {
    endpoints,
    view,
    ...(tailnet ? { tailnet } : {}),
    ...(state ? { state } : {}),
    tailnetKnown: !tailnet || world.knowsTailnet(tailnetName),
    ...(failure ? { failure } : {}),
    applicant: applicantOf(world, endpoints),
    ...(set ? { set } : {}),
    live: set ? liveObjects(world, set) : new Map(),
    statefulSets: made<StatefulSet>(STATEFUL_SET),
    pods,
    others: OTHER_TYPES.flatMap((type) => made(type).map((object) => ({ type, object }))),
    replicas: replicasOf({ set, pods, secrets: made<Secret>(SECRET) }),
    routes: observeRoutes(world, view),
  };
}

function applicantOf({ objects }: World, { metadata, spec }: TailscaleEndpoints): Applicant {
  const { namespace = "" } = metadata;
  const found = objects.get<Namespace>(NAMESPACE, namespace);
  return {
    namespace,
    namespaceLabels: found && (found.metadata.labels ?? {}),
    tags: spec.tags ?? [],
  };
}

function parentOf({ kind, metadata }: TailscaleEndpoints): string {
  return parentValue(kind, labelValue(metadata.namespace ?? ""), labelValue(metadata.name));
}

const OTHER_TYPES = [SERVICE, NETWORK_POLICY, ROLE_BINDING, ROLE, SERVICE_ACCOUNT];

/** Reads the objects of a type that were made for the object: labels may be copied, owners not. */
function madeFor({ objects }: World, endpoints: TailscaleEndpoints) {
  const parent = parentOf(endpoints);
  return <T extends KubeObject>(type: ResourceType): T[] =>
    objects.byIndex<T>(type, Index.parent, parent)
      .filter(({ metadata }) => isControlledBy(metadata, endpoints));
}

function liveObjects({ objects }: World, set: ProxySet): Map<string, KubeObject> {
  const names = [
    ...proxySetObjects(set).map(({ type, object }) => ({ type, name: object.metadata.name })),
    ...replicaIndices(set).map((index) => ({
      type: SECRET,
      name: configSecretName(set.name, index),
    })),
  ];
  return new Map(names.flatMap(({ type, name }) => {
    const found = objects.get(type, objectKey(set.namespace, name));
    return found ? [[liveKey(type, name), found]] : [];
  }));
}

interface ReplicaSources {
  readonly set: ProxySet | undefined;
  readonly pods: readonly Pod[];
  readonly secrets: readonly Secret[];
}

/** Replicas by index: those that are wanted, and those that Secrets are left of. */
function replicasOf({ set, pods, secrets }: ReplicaSources): ReplicaObserved[] {
  const wanted = set ? replicaIndices(set).map((index) => ({ base: set.name, index })) : [];
  const left = secrets.flatMap(({ metadata }) => {
    const base = metadata.labels?.[Label.instance] ?? "";
    const index = replicaIndexOf(base, metadata.name);
    return index === undefined ? [] : [{ base, index }];
  });
  const names = new Set(wanted.map(({ base, index }) => replicaName(base, index)));
  const all = new Map([...left, ...wanted].map((at) => [replicaName(at.base, at.index), at]));
  const secretOf = new Map(secrets.map((secret) => [secret.metadata.name, secret]));
  const podOf = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  return [...all].map(([name, { base, index }]) => {
    const stateSecret = secretOf.get(name);
    const configSecret = secretOf.get(configSecretName(base, index));
    const pod = podOf.get(name);
    return {
      index,
      name,
      wanted: names.has(name),
      ...(stateSecret ? { stateSecret } : {}),
      ...(configSecret ? { configSecret } : {}),
      ...(pod ? { pod } : {}),
      nodeIds: nodeIdsOf(stateSecret),
    };
  }).sort((a, b) => a.index - b.index || (a.name < b.name ? -1 : 1));
}
