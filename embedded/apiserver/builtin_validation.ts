/**
 * The checks of built-in kinds that a controller can run into: what is required,
 * and what may not change.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import { equal, fields, type Json, type JsonMap, mapAt, mapsIn, valueAt } from "./json.ts";
import { type ServedType, typeId } from "./types.ts";

type Check = (object: JsonMap, live: JsonMap | undefined) => string[];

const DATA_KEY = /^[-._a-zA-Z0-9]{1,253}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const MAX_DATA = 1024 * 1024;

function dataErrors(object: JsonMap): string[] {
  const data = mapAt(object, "data") ?? {};
  const size = Object.values(data).reduce<number>((sum, value) => sum + String(value).length, 0);
  return [
    ...Object.keys(data).filter((key) => !DATA_KEY.test(key)).map((key) =>
      `data[${key}]: Invalid value: ${JSON.stringify(key)}: a valid config key must consist of ` +
      "alphanumeric characters, '-', '_' or '.'"
    ),
    ...(size > MAX_DATA * 4 / 3 ? [`data: Too long: may not be more than ${MAX_DATA} bytes`] : []),
  ];
}

/** Unchanged, when there is something to change. */
function immutable(path: string): Check {
  return (object, live) => {
    const names = path.split(".");
    if (!live || equal(valueAt(object, names), valueAt(live, names))) return [];
    const value = JSON.stringify(valueAt(object, names) ?? null);
    return [`${path}: Invalid value: ${value}: field is immutable`];
  };
}

function immutableData(object: JsonMap, live: JsonMap | undefined): string[] {
  if (live?.["immutable"] !== true || equal(object["data"], live["data"])) return [];
  return ["data: Forbidden: field is immutable when `immutable` is set"];
}

function secretErrors(object: JsonMap): string[] {
  return Object.entries(mapAt(object, "data") ?? {})
    .filter(([, value]) => typeof value !== "string" || !BASE64.test(value))
    .map(([key]) => `data.${key}: Invalid value: "": must be base64`);
}

/** All that may change in the spec of a StatefulSet. */
const MUTABLE = new Set([
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
]);

function statefulSetErrors(object: JsonMap, live: JsonMap | undefined): string[] {
  const fixed = (o: JsonMap) =>
    Object.fromEntries(
      Object.entries(mapAt(o, "spec") ?? {}).filter(([name]) => !MUTABLE.has(name)),
    );
  if (!live || equal(fixed(object), fixed(live))) return [];
  return [
    "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', " +
    "'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' " +
    "and 'minReadySeconds' are forbidden",
  ];
}

function labelsMatch(object: JsonMap): string[] {
  const labels = mapAt(valueAt(object, ["spec", "template"]) as JsonMap, "metadata")?.["labels"];
  const selector = valueAt(object, ["spec", "selector", "matchLabels"]) as JsonMap | undefined;
  if (!valueAt(object, ["spec", "selector"])) return ["spec.selector: Required value"];
  const differs = Object.entries(selector ?? {}).some(([key, value]) =>
    (labels as JsonMap | undefined)?.[key] !== value
  );
  return differs
    ? [
      `spec.template.metadata.labels: Invalid value: ${JSON.stringify(labels ?? {})}: ` +
      "`selector` does not match template `labels`",
    ]
    : [];
}

/** Names of containers and volumes: there, unique, and mounts of volumes that exist. */
function podErrors(spec: JsonMap | undefined, at: string): string[] {
  const containers = mapsIn(spec?.["containers"]);
  if (containers.length === 0) return [`${at}.containers: Required value`];
  const volumes = mapsIn(spec?.["volumes"]).map((volume) => volume["name"]);
  return [
    ...duplicates(containers.map((container) => container["name"]), `${at}.containers`),
    ...duplicates(volumes, `${at}.volumes`),
    ...containers.flatMap((container, i) => [
      ...(container["image"] ? [] : [`${at}.containers[${i}].image: Required value`]),
      ...mapsIn(container["volumeMounts"]).flatMap((mount, j) =>
        volumes.includes(mount["name"] ?? null) ? [] : [
          `${at}.containers[${i}].volumeMounts[${j}].name: Not found: ${
            JSON.stringify(mount["name"] ?? "")
          }`,
        ]
      ),
    ]),
  ];
}

function duplicates(names: (Json | undefined)[], at: string): string[] {
  return names.flatMap((name, i) => {
    if (!name) return [`${at}[${i}].name: Required value`];
    return names.indexOf(name) === i
      ? []
      : [`${at}[${i}].name: Duplicate value: ${JSON.stringify(name)}`];
  });
}

function templateErrors(object: JsonMap): string[] {
  const template = valueAt(object, ["spec", "template", "spec"]);
  return podErrors(template as JsonMap | undefined, "spec.template.spec");
}

function serviceErrors(object: JsonMap): string[] {
  const spec = mapAt(object, "spec") ?? {};
  if (valueAt(object, ["status", "loadBalancer", "ingress"]) && spec["type"] !== "LoadBalancer") {
    const why = "may only be used when `spec.type` is 'LoadBalancer'";
    return [`status.loadBalancer.ingress: Forbidden: ${why}`];
  }
  const ports = mapsIn(spec["ports"]);
  const needed = spec["type"] !== "ExternalName" && spec["clusterIP"] !== "None";
  if (ports.length === 0) return needed ? ["spec.ports: Required value"] : [];
  const unnamed = ports.length > 1
    ? ports.flatMap((port, i) => port["name"] ? [] : [`spec.ports[${i}].name: Required value`])
    : [];
  return [...unnamed, ...duplicatePorts(ports)];
}

function duplicatePorts(ports: JsonMap[]): string[] {
  const ids = ports.map((port) => `${port["port"]}/${port["protocol"]}`);
  const names = ports.map((port) => port["name"]);
  return ports.flatMap((port, i) => [
    ...(ids.indexOf(ids[i]!) < i
      ? [`spec.ports[${i}]: Duplicate value: ${JSON.stringify(port)}`]
      : []),
    ...(names[i] && names.indexOf(names[i]) < i
      ? [`spec.ports[${i}].name: Duplicate value: ${JSON.stringify(names[i])}`]
      : []),
  ]);
}

const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  secrets: [immutable("type"), immutableData, dataErrors, secretErrors],
  configmaps: [immutableData, dataErrors],
  services: [serviceErrors],
  pods: [(object) => podErrors(mapAt(object, "spec"), "spec")],
  "statefulsets.apps": [statefulSetErrors, labelsMatch, templateErrors],
  "deployments.apps": [immutable("spec.selector"), labelsMatch, templateErrors],
  "rolebindings.rbac.authorization.k8s.io": [immutable("roleRef")],
  "clusterrolebindings.rbac.authorization.k8s.io": [immutable("roleRef")],
};

/** What is wrong with an object of a built-in kind, each `<field>: <message>`. */
export function builtinErrors(
  type: ServedType,
  object: KubeObject,
  live: KubeObject | undefined,
): string[] {
  const before = live && fields(live);
  return (CHECKS[typeId(type)] ?? []).flatMap((check) => check(fields(object), before));
}
