/**
 * What a TailscaleTailnet lets its users do: which namespaces may use it, and
 * which tags they may ask for.
 *
 * @module
 */
import { selectorMatches } from "../../core/label_selector.ts";
import { TailscaleEndpointsReason as Reason } from "../../api/tailscale_endpoints.ts";
import type { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import type { Failure } from "../world.ts";

/** Who asks. */
export interface Applicant {
  readonly namespace: string;
  /** The labels of that namespace; undefined where it is not there. */
  readonly namespaceLabels: Readonly<Record<string, string>> | undefined;
  /** The tags that the object itself asks for. */
  readonly tags: readonly string[];
}

/** Why the object may not use the tailnet; undefined where it may. */
export function namespaceRefusal(
  { metadata, spec }: TailscaleTailnet,
  { namespace, namespaceLabels }: Applicant,
): Failure | undefined {
  const { from, selector = {} } = spec.allowedNamespaces ?? { from: "All" };
  if (from === "All" || namespaceLabels && selectorMatches(selector, namespaceLabels)) {
    return undefined;
  }
  return {
    reason: Reason.NamespaceNotAllowed,
    message: `TailscaleTailnet ${metadata.name} does not let objects of namespace ${namespace} ` +
      "use it: its allowedNamespaces.selector does not pick the namespace's labels. An " +
      "administrator can label the namespace or widen the selector. What runs already goes on.",
  };
}

/** Why the object may not ask for its tags; undefined where it may. */
export function tagsRefusal(
  { metadata, spec }: TailscaleTailnet,
  { tags }: Applicant,
): Failure | undefined {
  const allowed = spec.allowedTags ?? [];
  const refused = tags.filter((tag) => !allowed.includes(tag));
  if (allowed.length === 0 || refused.length === 0) return undefined;
  return {
    reason: Reason.TagsNotPermitted,
    message: `TailscaleTailnet ${metadata.name} does not allow ${refused.join(", ")}: its ` +
      `allowedTags are ${allowed.join(", ")}. Ask for those alone. What runs already goes on.`,
  };
}
