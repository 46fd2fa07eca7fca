/**
 * Conditions as Kubernetes writes them: output for users, never input.
 *
 * @module
 */
import type { Condition } from "./object.ts";

/** A condition before it has a time and a generation. */
export type Verdict = Pick<Condition, "type" | "status" | "reason" | "message">;

/** RFC 3339 with seconds, as `metav1.Time` is written. */
export function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/**
 * The conditions for a status: `lastTransitionTime` is kept from `previous`
 * unless the status of that type flipped.
 */
export function conditionsFrom(
  verdicts: readonly Verdict[],
  previous: readonly Condition[] | undefined,
  context: { now: number; generation: number | undefined },
): Condition[] {
  return verdicts.map((verdict) => {
    const old = previous?.find((c) => c.type === verdict.type);
    return {
      ...verdict,
      // The API server refuses messages over 32768 characters.
      message: verdict.message.slice(0, 4096),
      lastTransitionTime: old && old.status === verdict.status
        ? old.lastTransitionTime
        : timestamp(context.now),
      ...(context.generation === undefined ? {} : { observedGeneration: context.generation }),
    };
  });
}

/** A verdict of status True. */
export function yes(type: string, reason: string, message: string): Verdict {
  return { type, status: "True", reason, message };
}

/** A verdict of status False. */
export function no(type: string, reason: string, message: string): Verdict {
  return { type, status: "False", reason, message };
}

/** A verdict of status Unknown. */
export function unknown(type: string, reason: string, message: string): Verdict {
  return { type, status: "Unknown", reason, message };
}
