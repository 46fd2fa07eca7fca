/**
 * Names that fit Kubernetes' limits.
 *
 * @module
 */
import { shortHash } from "./hash.ts";

/**
 * A StatefulSet's name may have 52 characters: its pods carry it with an 11
 * character hash in the label `controller-revision-hash`, whose limit is 63.
 */
export const MAX_STATEFULSET_NAME = 52;

/** The limit of a DNS label, and of a label's value. */
export const MAX_LABEL = 63;

/**
 * `base` + `suffix`, unchanged where it fits into `max` characters; else `base`
 * is cut and a hash of the whole name is put between the two, so that different
 * long names stay different.
 *
 * @example
 * ```ts
 * import { boundedName } from "./names.ts";
 * boundedName("web", "-egress", 52); // "web-egress"
 * ```
 */
export function boundedName(base: string, suffix: string, max: number): string {
  const whole = base + suffix;
  if (whole.length <= max) return whole;
  const hash = shortHash(whole);
  const room = max - suffix.length - hash.length - 1;
  return `${base.slice(0, room).replace(/[-.]+$/, "")}-${hash}${suffix}`;
}

/** `value` as a label's value: itself where it fits, else its beginning and a hash. */
export function labelValue(value: string): string {
  return boundedName(value, "", MAX_LABEL);
}
