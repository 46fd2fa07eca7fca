/**
 * What tests say of actions.
 *
 * @module
 */
import type { Action } from "../controller.ts";

/** An action in a few words. */
export function describe(action: Action): string {
  switch (action.do) {
    case "apply":
    case "delete":
      return `${action.do} ${action.object.kind} ${action.object.metadata.name}`;
    case "mintAuthKey":
      return `mint ${action.description}`;
    case "revokeAuthKey":
      return `revoke ${action.id}`;
    case "deleteDevice":
      return `deleteDevice ${action.nodeId}`;
    case "event":
      return `event ${action.reason}`;
    default:
      return `${action.do} ${action.tailnet}`;
  }
}
