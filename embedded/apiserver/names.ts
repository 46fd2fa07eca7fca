/**
 * Which names, labels and annotations are valid.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import { type ServedType, typeId } from "./types.ts";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

const SUBDOMAIN_HELP =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  "and must start and end with an alphanumeric character";
const LABEL_HELP =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters " +
  "or '-', and must start and end with an alphanumeric character";

interface NameRule {
  readonly pattern: RegExp;
  readonly max: number;
  readonly help: string;
}

const BY_KIND: Readonly<Record<string, NameRule>> = {
  namespaces: { pattern: LABEL, max: 63, help: LABEL_HELP },
  services: { pattern: LABEL, max: 63, help: LABEL_HELP },
};

const PATH_SEGMENT: NameRule = {
  pattern: /^(?!\.{1,2}$)[^/%]+$/,
  max: 253,
  help: "may not be '.', '..' or contain '/' or '%'",
};
const DEFAULT_RULE: NameRule = { pattern: SUBDOMAIN, max: 253, help: SUBDOMAIN_HELP };

function ruleOf(type: ServedType): NameRule {
  if (type.group === "rbac.authorization.k8s.io") return PATH_SEGMENT;
  return BY_KIND[typeId(type)] ?? DEFAULT_RULE;
}

/** What is wrong with an object's name, as `<field>: <message>`. */
export function nameErrors(type: ServedType, name: string): string[] {
  if (name === "") return ["metadata.name: Required value: name or generateName is required"];
  const { pattern, max, help } = ruleOf(type);
  const errors: string[] = [];
  if (name.length > max) {
    errors.push(
      `metadata.name: Invalid value: ${JSON.stringify(name)}: must be no more than ${max} bytes`,
    );
  }
  if (!pattern.test(name)) {
    errors.push(`metadata.name: Invalid value: ${JSON.stringify(name)}: ${help}`);
  }
  return errors;
}

function keyErrors(field: string, key: string): string[] {
  const parts = key.split("/");
  const name = parts[parts.length - 1] ?? "";
  const prefix = parts.length > 1 ? parts[0] ?? "" : undefined;
  const valid = parts.length <= 2 && name.length <= 63 && QUALIFIED.test(name) &&
    (prefix === undefined || (SUBDOMAIN.test(prefix) && prefix.length <= 253));
  return valid ? [] : [
    `${field}: Invalid value: ${
      JSON.stringify(key)
    }: a qualified name must be at most 63 letters, ` +
    "digits, '-', '_' or '.', with an optional DNS subdomain prefix and '/'",
  ];
}

function valueErrors(value: unknown): string[] {
  const field = "metadata.labels: Invalid value:";
  if (typeof value !== "string") return [`${field} ${JSON.stringify(value)}: must be a string`];
  if (value.length > 63) {
    return [`${field} ${JSON.stringify(value)}: must be no more than 63 bytes`];
  }
  if (value === "" || QUALIFIED.test(value)) return [];
  return [
    `${field} ${JSON.stringify(value)}: a valid label must be an empty string or consist of ` +
    "alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ];
}

const MAX_ANNOTATIONS = 256 * 1024;

/** What is wrong with an object's labels, annotations, finalizers and owners. */
export function metadataErrors({ metadata }: KubeObject): string[] {
  const annotations = Object.entries(metadata.annotations ?? {});
  const size = annotations.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return [
    ...Object.keys(metadata.labels ?? {}).flatMap((key) => keyErrors("metadata.labels", key)),
    ...Object.values(metadata.labels ?? {}).flatMap(valueErrors),
    ...annotations.flatMap(([key]) => keyErrors("metadata.annotations", key.toLowerCase())),
    ...(size > MAX_ANNOTATIONS
      ? [`metadata.annotations: Too long: may not be more than ${MAX_ANNOTATIONS} bytes`]
      : []),
    ...ownerErrors(metadata.ownerReferences ?? []),
  ];
}

function ownerErrors(owners: NonNullable<KubeObject["metadata"]["ownerReferences"]>): string[] {
  const missing = owners.flatMap((owner) =>
    (["apiVersion", "kind", "name", "uid"] as const).filter((name) => !owner[name]).map((name) =>
      `metadata.ownerReferences.${name}: Invalid value: "": must not be empty`
    )
  );
  const controllers = owners.filter((owner) => owner.controller).length;
  if (controllers <= 1) return missing;
  return [
    ...missing,
    "metadata.ownerReferences: Invalid value: only one reference can have controller set to true",
  ];
}
