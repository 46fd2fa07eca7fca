/**
 * Label and field selectors, as in `?labelSelector=` and `?fieldSelector=`.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import { badRequest } from "./errors.ts";
import { fields, valueAt } from "./json.ts";
import { type ServedType, typeId } from "./types.ts";

/** Does the object match? */
export type Predicate = (object: KubeObject) => boolean;

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

/** Splits at commas that are not within parentheses. */
function splitRequirements(text: string): string[] {
  return text.split(/,(?![^()]*\))/).map((part) => part.trim()).filter((part) => part !== "");
}

function values(text: string): Set<string> {
  return new Set(text.split(",").map((value) => value.trim()));
}

const SET_BASED = /^([^\s!=,()]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^\s!=,()<>]+)\s*(==|=|!=)\s*([^\s!=,()<>]*)$/;
const EXISTS = /^(!?)\s*([^\s!=,()<>]+)$/;
const NUMERIC = /^([^\s!=,()<>]+)\s*([<>])\s*(-?\d+)$/;

function numeric(key: string, operator: string, bound: number): Requirement {
  return (labels) => {
    const value = /^-?\d+$/.test(labels[key] ?? "") ? Number(labels[key]) : NaN;
    return operator === "<" ? value < bound : value > bound;
  };
}

function requirement(text: string): Requirement {
  const [, setKey, setOperator, list] = SET_BASED.exec(text) ?? [];
  if (setKey !== undefined && list !== undefined) {
    const allowed = values(list);
    const isIn = (labels: Labels) => Object.hasOwn(labels, setKey) && allowed.has(labels[setKey]!);
    return setOperator === "in" ? isIn : (labels) => !isIn(labels);
  }
  const [, key, operator, value] = EQUALITY.exec(text) ?? [];
  if (key !== undefined) {
    return operator === "!="
      ? (labels) => labels[key] !== value
      : (labels) => labels[key] === value;
  }
  const [, numericKey, sign, bound] = NUMERIC.exec(text) ?? [];
  if (numericKey !== undefined) return numeric(numericKey, sign!, Number(bound));
  const [, not, name] = EXISTS.exec(text) ?? [];
  if (name === undefined) {
    throw badRequest(`unable to parse requirement: found '${text}', expected a label selector`);
  }
  return (labels) => Object.hasOwn(labels, name) === (not === "");
}

/**
 * Parses a label selector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`,
 * `a`, `!a`, `a<1`, joined by commas.
 *
 * @throws {ApiError} 400 when it can't be parsed.
 */
export function labelSelector(text: string): Predicate {
  const requirements = splitRequirements(text).map(requirement);
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return requirements.every((matches) => matches(labels));
  };
}

const COMMON_FIELDS = ["metadata.name", "metadata.namespace"];
const EVENT_FIELDS = ["kind", "namespace", "name", "uid", "apiVersion", "fieldPath"];

/** The fields beside name and namespace that the real server can select by. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  secrets: ["type"],
  namespaces: ["status.phase"],
  services: ["spec.clusterIP", "spec.type"],
  pods: ["spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "status.phase"],
  events: ["reason", "type", ...EVENT_FIELDS.map((field) => `involvedObject.${field}`)],
  "events.events.k8s.io": ["reason", "type", ...EVENT_FIELDS.map((field) => `regarding.${field}`)],
};

/**
 * Parses a field selector: `metadata.name=a`, `metadata.namespace!=b`, and what
 * the real server can select of that kind, joined by commas.
 *
 * @throws {ApiError} 400 when it can't be parsed or the field can't be selected by.
 */
export function fieldSelector(text: string, type: ServedType): Predicate {
  const supported = [...COMMON_FIELDS, ...(FIELDS[typeId(type)] ?? [])];
  const terms = text.split(",").filter((term) => term.trim() !== "").map((term) => {
    const [, field, operator, wanted] = /^\s*([^!=\s]+)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term) ?? [];
    if (field === undefined) {
      throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    if (!supported.includes(field)) {
      const known = supported.map((name) => JSON.stringify(name)).join(", ");
      throw badRequest(`${JSON.stringify(field)} is not a known field selector: only ${known}`);
    }
    return { path: field.split("."), not: operator === "!=", wanted };
  });
  return (object) =>
    terms.every(({ path, not, wanted }) =>
      (String(valueAt(fields(object), path) ?? "") === wanted) !== not
    );
}
