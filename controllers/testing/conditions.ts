/**
 * Reading and checking conditions in tests.
 *
 * @module
 */
import { assert, assertExists } from "@std/assert";
import type { Condition, KubeObject } from "../../core/object.ts";
import type { ConditionDoc } from "../../api/kind.ts";

/** `True Reason`, or undefined where the status has no condition of the type. */
export function conditionOf(status: unknown, type: string): string | undefined {
  const found = find(status, type);
  return found && `${found.status} ${found.reason}`;
}

/** The message of a condition. */
export function messageOf(status: unknown, type: string): string {
  const found = find(status, type);
  assertExists(found, `no condition ${type}`);
  return found.message;
}

function find(status: unknown, type: string): Condition | undefined {
  const { conditions = [] } = (status ?? {}) as { conditions?: Condition[] };
  return conditions.find((condition) => condition.type === type);
}

/** Checks that each condition's reason is in the closed list of its type. */
export function assertReasonsListed(
  status: unknown,
  documented: Readonly<Record<string, ConditionDoc>>,
): void {
  const { conditions = [] } = (status ?? {}) as { conditions?: Condition[] };
  for (const { type, reason, message } of conditions) {
    assert(documented[type]?.reasons.includes(reason), `${type}: ${reason} (${message})`);
  }
}

/** The status of an object. */
export function statusIn(object: KubeObject | undefined): unknown {
  return (object as { status?: unknown } | undefined)?.status;
}
