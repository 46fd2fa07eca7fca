/**
 * The kinds of object that the server knows, and how each behaves.
 *
 * @module
 */
import type { ResourceType } from "../../core/object.ts";
import { isEvent } from "./event_forms.ts";

/** A kind that is served. Absent flags mean what a CRD with a status subresource does. */
export interface ServedType extends ResourceType {
  /** Other versions under which the same objects are served; only `apiVersion` differs. */
  readonly otherVersions?: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** Has `/status`: then writes of the object leave the status alone. @default true */
  readonly status?: boolean;
  /** Compiled into the real API server, not defined by a CRD. @default false */
  readonly builtin?: boolean;
  /** `metadata.generation` counts changes outside of metadata and status. @default true */
  readonly generation?: boolean;
  /** What `kubectl get` shows beside the name. @default the age */
  readonly columns?: readonly PrinterColumn[];
}

/** A column of `kubectl get`, as `additionalPrinterColumns` of a CRD has it. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date" | "boolean" | "number";
  readonly jsonPath: string;
  readonly description?: string;
  /** Shown only with `-o wide`. */
  readonly wide?: boolean;
}

type Flags = Omit<ServedType, keyof ResourceType>;
type Row = readonly [kind: string, plural: string, flags?: Flags & { cluster?: boolean }];

function group(group: string, version: string, common: Flags, rows: readonly Row[]): ServedType[] {
  return rows.map(([kind, plural, flags = {}]) => {
    const { cluster = false, ...rest } = flags;
    return { group, version, kind, plural, namespaced: !cluster, ...common, ...rest };
  });
}

const PLAIN: Flags = { builtin: true, status: false, generation: false };
const STATUS: Flags = { status: true };
const GENERATION: Flags = { generation: true };

/** Every kind that is served without being asked for. */
export const BUILTIN_TYPES: readonly ServedType[] = [
  ...group("", "v1", PLAIN, [
    ["Namespace", "namespaces", { ...STATUS, cluster: true, shortNames: ["ns"] }],
    ["Secret", "secrets"],
    ["ConfigMap", "configmaps", { shortNames: ["cm"] }],
    ["Service", "services", { ...STATUS, shortNames: ["svc"], categories: ["all"] }],
    ["ServiceAccount", "serviceaccounts", { shortNames: ["sa"] }],
    ["Pod", "pods", { ...STATUS, ...GENERATION, shortNames: ["po"], categories: ["all"] }],
    ["Event", "events", { shortNames: ["ev"] }],
  ]),
  ...group("apps", "v1", { builtin: true }, [
    ["StatefulSet", "statefulsets", { shortNames: ["sts"], categories: ["all"] }],
    ["Deployment", "deployments", { shortNames: ["deploy"], categories: ["all"] }],
  ]),
  ...group("rbac.authorization.k8s.io", "v1", PLAIN, [
    ["Role", "roles"],
    ["RoleBinding", "rolebindings"],
    ["ClusterRole", "clusterroles", { cluster: true }],
    ["ClusterRoleBinding", "clusterrolebindings", { cluster: true }],
  ]),
  ...group("networking.k8s.io", "v1", PLAIN, [
    ["NetworkPolicy", "networkpolicies", { ...GENERATION, shortNames: ["netpol"] }],
  ]),
  ...group("policy", "v1", { builtin: true }, [
    ["PodDisruptionBudget", "poddisruptionbudgets", { shortNames: ["pdb"] }],
  ]),
  ...group("discovery.k8s.io", "v1", PLAIN, [["EndpointSlice", "endpointslices", GENERATION]]),
  ...group("events.k8s.io", "v1", PLAIN, [["Event", "events", { shortNames: ["ev"] }]]),
  ...group("coordination.k8s.io", "v1", PLAIN, [["Lease", "leases"]]),
  ...group("gateway.networking.k8s.io", "v1", { categories: ["gateway-api"] }, [
    ["GatewayClass", "gatewayclasses", {
      cluster: true,
      shortNames: ["gc"],
      otherVersions: ["v1beta1"],
    }],
    ["Gateway", "gateways", { shortNames: ["gtw"], otherVersions: ["v1beta1"] }],
    ["HTTPRoute", "httproutes", { otherVersions: ["v1beta1"] }],
    ["GRPCRoute", "grpcroutes"],
    ["TLSRoute", "tlsroutes", { otherVersions: ["v1alpha3", "v1alpha2"] }],
  ]),
  ...group("gateway.networking.k8s.io", "v1alpha2", { categories: ["gateway-api"] }, [
    ["TCPRoute", "tcproutes"],
    ["UDPRoute", "udproutes"],
  ]),
  ...group("gateway.networking.k8s.io", "v1beta1", { categories: ["gateway-api"] }, [
    ["ReferenceGrant", "referencegrants", {
      status: false,
      shortNames: ["refgrant"],
      otherVersions: ["v1"],
    }],
  ]),
  ...group("gateway.tailscale.com", "v1alpha1", { categories: ["tailscale"] }, [
    ["TailscaleTailnet", "tailscaletailnets", { cluster: true, shortNames: ["tstn"] }],
    ["TailscaleEndpoints", "tailscaleendpoints", { shortNames: ["tsep"] }],
    ["TailscaleServices", "tailscaleservices", { shortNames: ["tssvc"] }],
    ["TailscaleGateway", "tailscalegateways", { shortNames: ["tsgw"] }],
    ["TailscaleRoutePolicy", "tailscaleroutepolicies", { shortNames: ["tsrp"] }],
    ["TailscaleProxyGroup", "tailscaleproxygroups", { shortNames: ["tspg"] }],
    ["TailscaleGatewayRevision", "tailscalegatewayrevisions"],
  ]),
];

/** Identifies the objects of a kind, whatever the version. */
export function typeId(type: Pick<ResourceType, "group" | "plural">): string {
  return type.group === "" ? type.plural : `${type.plural}.${type.group}`;
}

/** Identifies where the objects of a kind are stored: Events of both groups are the same. */
export function storeId(type: Pick<ResourceType, "group" | "plural" | "kind">): string {
  return isEvent(type) ? "events" : typeId(type);
}

/** The versions under which a kind is served, the preferred one first. */
export function versionsOf(type: ServedType): string[] {
  return [type.version, ...(type.otherVersions ?? [])];
}

/** Has the kind a `/status` of its own? */
export function hasStatus(type: ServedType): boolean {
  return type.status ?? true;
}

/** Has the kind a `/scale`? */
export function isScalable(type: ServedType): boolean {
  return type.builtin === true && (type.kind === "StatefulSet" || type.kind === "Deployment");
}

/** Has the kind a `/token`? */
export function givesTokens(type: ServedType): boolean {
  return type.group === "" && type.kind === "ServiceAccount";
}

/** Finds served kinds by what requests and references say. */
export class TypeRegistry {
  readonly #byId = new Map<string, ServedType>();

  constructor(types: Iterable<ServedType>) {
    for (const type of types) this.#byId.set(typeId(type), type);
  }

  get all(): ServedType[] {
    return [...this.#byId.values()];
  }

  /** The kind that a URL names, if it is served in that version. */
  byPath(group: string, version: string, plural: string): ServedType | undefined {
    const type = this.#byId.get(typeId({ group, plural }));
    return type && versionsOf(type).includes(version) ? type : undefined;
  }

  /** The kind that an `apiVersion` and `kind` name. */
  byKind(apiVersion: string, kind: string): ServedType | undefined {
    const [group, version] = splitApiVersion(apiVersion);
    return this.all.find((t) =>
      t.group === group && t.kind === kind && versionsOf(t).includes(version)
    );
  }

  /** Does the group have only kinds that a CRD defines? */
  isCustom(group: string): boolean {
    return this.all.every((t) => t.group !== group || !t.builtin);
  }

  /** Is any kind of that group served in that version? */
  serves(group: string, version: string): boolean {
    return this.all.some((t) => t.group === group && versionsOf(t).includes(version));
  }
}

/** `apps/v1` → `["apps", "v1"]`, `v1` → `["", "v1"]`. */
export function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? ["", apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}
