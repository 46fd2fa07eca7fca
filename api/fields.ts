/**
 * Field types that the kinds share, each with the bounds that the cost estimate
 * of CEL needs.
 *
 * @module
 */

import { z } from "zod";
import { withRules } from "./rules.ts";

/** Bounds of lists, maps and strings. */
export const LIMITS = {
  endpoints: 256,
  ports: 32,
  tags: 32,
  mapEntries: 32,
  list: 32,
  name: 63,
  string: 253,
  /** Texts that the operator writes into status; CEL never reads them. */
  message: 32768,
} as const;

/** A DNS-1035 label, as our own kinds are named. */
export const DNS_1035 = "^[a-z]([-a-z0-9]*[a-z0-9])?$";

/** A DNS-1123 subdomain, as Kubernetes names most objects. */
const DNS_1123_SUBDOMAIN = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

/** A duration of the Gateway API (GEP-2257). */
export const DURATION = "^([0-9]{1,5}(h|m|s|ms)){1,4}$";

/** A string that is not empty. */
export const text = (max: number = LIMITS.string) => z.string().min(1).max(max);

/** The name of an object of ours, or of a Service or namespace. */
export const name1035 = () => text(LIMITS.name).regex(new RegExp(DNS_1035));

/** The name of a namespace. */
export const namespaceName = () => text(LIMITS.name).regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** The name of an object of Kubernetes. */
export const objectName = () => text().regex(new RegExp(DNS_1123_SUBDOMAIN));

/** A port number. */
export const port = () => z.int().min(1).max(65535);

/** A count. */
export const count = () => z.int().min(0);

/** A point in time, RFC 3339. */
export const timestamp = () => z.string().meta({ format: "date-time" });

/** How the tailnet's policy writes a tag. */
export const TAG = "^tag:[a-zA-Z][a-zA-Z0-9-]*$";

/** A tag of the tailnet's policy. */
export const tag = () => text(LIMITS.string).regex(new RegExp(TAG));

/** A set of tags. */
export const tags = () => setOf(tag().describe("A tag, such as `tag:web`."), LIMITS.tags);

/** A list that holds no value twice. */
export function setOf<S extends z.ZodType>(item: S, max: number): z.ZodArray<S> {
  return z.array(item).max(max)
    .refine((items) => new Set(items).size === items.length, { error: "an item is there twice" })
    .meta({ "x-kubernetes-list-type": "set" });
}

/** A list whose items are told apart by some of their fields. */
export function listByKeys<S extends z.ZodType>(
  item: S,
  options: { keys: readonly string[]; max: number },
): z.ZodArray<S> {
  const { keys, max } = options;
  const keyOf = (value: unknown) =>
    JSON.stringify(keys.map((key) => (value as Record<string, unknown>)[key]));
  return z.array(item).max(max)
    .refine((items) => new Set(items.map(keyOf)).size === items.length, {
      error: `two items have the same ${keys.join(" and ")}`,
    })
    .meta({ "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys });
}

/** A map of strings. */
export const stringMap = (maxValue: number = LIMITS.string) =>
  z.record(z.string(), z.string().max(maxValue).describe("A value."))
    .refine((map) => Object.keys(map).length <= LIMITS.mapEntries, {
      error: `at most ${LIMITS.mapEntries} entries`,
    })
    .meta({ maxProperties: LIMITS.mapEntries });

/**
 * A duration of at least a second, as in the Gateway API: `30s`, `1m30s`, `500ms`.
 */
export const duration = () =>
  withRules(z.string().min(2).max(32).regex(new RegExp(DURATION)), {
    rule: `!self.matches('${DURATION}') || duration(self) >= duration('1s')`,
    message: "a duration here is at least 1s",
    holds: (value) => !new RegExp(DURATION).test(value) || durationMs(value) >= 1000,
  });

const UNIT_MS: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/**
 * The milliseconds of a duration of the Gateway API.
 *
 * @example
 * ```ts
 * import { durationMs } from "./fields.ts";
 * durationMs("1m30s"); // 90000
 * ```
 * @throws {RangeError} for a text that is no such duration.
 */
export function durationMs(text: string): number {
  if (!new RegExp(DURATION).test(text)) {
    throw new RangeError(`"${text}" is no duration; write it as 30s, 1m30s or 500ms`);
  }
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/([0-9]+)(ms|h|m|s)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ""] ?? 0);
  }
  return total;
}

const LIST_MAP_BY_TYPE = { keys: ["type"], max: 16 };

/** `status.conditions`, as `metav1.Condition` has them. */
export const conditions = () =>
  listByKeys(condition(), LIST_MAP_BY_TYPE).exactOptional().describe(
    "What is so about the object, one entry for each condition type.",
  );

/** A condition; {@linkcode Condition} of core is its TypeScript type. */
function condition() {
  return z.object({
    type: text(316).describe("The condition type, such as `Ready`."),
    status: z.enum(["True", "False", "Unknown"]).describe("Whether the condition holds."),
    reason: text(1024).regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/).describe(
      "Why, in one word of the closed list on the reference page.",
    ),
    message: z.string().max(LIMITS.message).describe("What is so, where, and what to do about it."),
    lastTransitionTime: timestamp().describe("When the status last changed."),
    observedGeneration: count().exactOptional().describe(
      "The `metadata.generation` of the object that the condition is about.",
    ),
  }).describe("A condition.");
}

const labelValues = () => setOf(z.string().max(LIMITS.name).describe("A value."), LIMITS.list);

/** A label selector of Kubernetes. */
export const labelSelector = () =>
  z.object({
    matchLabels: stringMap(LIMITS.name).exactOptional().describe(
      "Labels that must all be there with these values.",
    ),
    matchExpressions: z.array(labelRequirement()).max(LIMITS.list).exactOptional().describe(
      "Requirements that must all be met.",
    ),
  });

function labelRequirement() {
  const requirement = z.object({
    key: text(317).describe("The label's key."),
    operator: z.enum(["In", "NotIn", "Exists", "DoesNotExist"]).describe(
      "How the label's value relates to `values`.",
    ),
    values: labelValues().exactOptional().describe(
      "The values, for `In` and `NotIn`; absent for `Exists` and `DoesNotExist`.",
    ),
  }).describe("A requirement on one label.");
  return withRules(requirement, {
    rule:
      "self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",
    message: "In and NotIn need values; Exists and DoesNotExist take none",
    holds: ({ operator, values }) => {
      const some = (values?.length ?? 0) > 0;
      return operator === "In" || operator === "NotIn" ? some : !some;
    },
  });
}
