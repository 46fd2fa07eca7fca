/**
 * What the tailnet's state means for its users.
 *
 * @module
 */
import type { TailnetState } from "../world.ts";

/** Can keys be made, and devices removed? */
export function isUsable(state: TailnetState | undefined): boolean {
  const check = state?.check;
  return check !== undefined && "scopes" in check && check.missing.length === 0;
}
