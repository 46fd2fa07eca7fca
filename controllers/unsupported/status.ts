/**
 * What is said of objects that no controller acts on yet: that they are not
 * accepted, so that nobody waits for what does not come.
 *
 * @module
 */
import { conditionsFrom, no } from "../../core/conditions.ts";
import { deepEqual } from "../../core/equal.ts";
import { CONTROLLER_NAME } from "../../core/labels.ts";
import type { Condition, KubeObject } from "../../core/object.ts";
import type { LocalPolicyTargetReference, PolicyAncestorStatus } from "../../api/policy_fields.ts";
import type { Plan } from "../controller.ts";

const REASON = "NotSupported";
/** Gateway API's limit of `status.ancestors`. */
const MAX_ANCESTORS = 16;

/** An object with conditions of its own. */
export type WithConditions = KubeObject & { status?: { conditions?: Condition[] } };

/** A policy, which has conditions for each of its targets. */
export type Policy = KubeObject & {
  spec: { targetRefs: LocalPolicyTargetReference[] };
  status?: { ancestors?: PolicyAncestorStatus[] };
};

/** The status of an object that nothing is done for. */
export function planUnsupported(object: WithConditions, now: number): Plan {
  const verdicts = ["Accepted", "Ready"].map((type) => no(type, REASON, messageFor(object)));
  const { status, metadata: { generation } } = object;
  const conditions = conditionsFrom(verdicts, status?.conditions, { now, generation });
  return { actions: [], status: { conditions } };
}

/** The status of a policy that is in force nowhere; what other controllers said of it stays. */
export function planUnsupportedPolicy(policy: Policy, now: number): Plan {
  const ancestors = policy.status?.ancestors ?? [];
  const others = ancestors.filter(({ controllerName }) => controllerName !== CONTROLLER_NAME);
  const ours = policy.spec.targetRefs.slice(0, Math.max(0, MAX_ANCESTORS - others.length))
    .map((target) => ancestorOf(policy, target, now));
  return { actions: [], status: { ancestors: [...others, ...ours] } };
}

function ancestorOf(
  policy: Policy,
  target: LocalPolicyTargetReference,
  now: number,
): PolicyAncestorStatus {
  const { namespace, generation } = policy.metadata;
  const ancestorRef = { ...target, ...(namespace ? { namespace } : {}) };
  const old = policy.status?.ancestors?.find((ancestor) =>
    ancestor.controllerName === CONTROLLER_NAME && deepEqual(ancestor.ancestorRef, ancestorRef)
  );
  const verdicts = ["Accepted", "Programmed"].map((type) => no(type, REASON, messageFor(policy)));
  const conditions = conditionsFrom(verdicts, old?.conditions, { now, generation });
  return { ancestorRef, controllerName: CONTROLLER_NAME, conditions };
}

function messageFor({ kind }: KubeObject): string {
  return `${kind} is not supported yet: this version checks and stores the object, and does ` +
    "nothing for it. Nothing needs to be removed; a version that supports it will take it up.";
}
