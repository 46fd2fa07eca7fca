/**
 * TailscaleEndpoints: runs the proxies that the object asks for, as machines of
 * its tailnet, and says how they are.
 *
 * @module
 */
import { needsApply } from "../../core/apply/needs_apply.ts";
import { isControlledBy } from "../../core/labels.ts";
import { STATEFUL_SET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleEndpointsReason as Reason } from "../../api/tailscale_endpoints.ts";
import { type Action, fieldManagerOf, IDLE, type Plan } from "../controller.ts";
import { finalizerAction, hasFinalizer } from "../finalizer.ts";
import { proxySetObjects, type TypedObject } from "../proxies/objects.ts";
import type { ProxySet } from "../proxies/proxy_set.ts";
import type { Failure } from "../world.ts";
import { planDeletion } from "./deletion.ts";
import { replacedActions } from "./lost.ts";
import { type EndpointsObserved, liveKey, NAME } from "./observe.ts";
import { namespaceRefusal, tagsRefusal } from "./permission.ts";
import { unsupported } from "./proxy_set.ts";
import { configActions, keyExpiries, podActions, retireActions } from "./replicas.ts";
import { statusOf } from "./status.ts";
import { isUsable } from "./tailnet.ts";

const MANAGER = fieldManagerOf({ name: NAME });

/** Decides for one TailscaleEndpoints. */
export function planEndpoints(o: EndpointsObserved, now: number): Plan {
  if (o.endpoints.metadata.deletionTimestamp) {
    return hasFinalizer(o.endpoints) ? planDeletion(o, now) : IDLE;
  }
  const refused = refusal(o);
  const held: Action[] = hasFinalizer(o.endpoints)
    ? []
    : [finalizerAction(TailscaleEndpoints.resource, o.endpoints, true)];
  const set = isBlocked(refused) ? undefined : o.set;
  // Before the tailnet was tried, what was said before stands.
  const silent = !o.tailnetKnown && o.endpoints.status !== undefined;
  const wakeAt = earliest([o.failure?.retryAt, ...(set ? keyExpiries(o, now) : [])]);
  return {
    actions: [...held, ...(set ? proxyActions(o, set, now) : [])],
    ...(silent ? {} : { status: statusOf(o, refused ?? o.failure, now) }),
    ...(wakeAt === undefined ? {} : { wakeAt }),
  };
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Does the refusal mean that nothing is made, and what runs is left as it is? */
function isBlocked(refused: Failure | undefined): boolean {
  return refused !== undefined && refused.reason !== Reason.TailnetNotReady;
}

type Check = (o: EndpointsObserved) => Failure | undefined;

const CHECKS: readonly Check[] = [
  supported, // nothing is asked for that no controller does yet
  tailnetExists, // the TailscaleTailnet that it names is there
  namespaceAllowed, // and lets objects of this namespace use it
  tagsAllowed, // with the tags that they ask for
  namesFree, // nobody else has an object of a name that the proxies need
  tailnetReady, // and its credential works
];

function refusal(o: EndpointsObserved): Failure | undefined {
  for (const check of CHECKS) {
    const failure = check(o);
    if (failure) return failure;
  }
  return undefined;
}

function supported({ view }: EndpointsObserved): Failure | undefined {
  const message = unsupported(view.spec);
  return message ? { reason: Reason.NotSupported, message } : undefined;
}

function tailnetExists({ tailnet, endpoints }: EndpointsObserved): Failure | undefined {
  if (tailnet) return undefined;
  return {
    reason: Reason.TailnetNotFound,
    message: `There is no TailscaleTailnet ${endpoints.spec.tailnet}. ` +
      "Create it, or name another: kubectl get tailscaletailnets",
  };
}

function namespaceAllowed({ tailnet, applicant }: EndpointsObserved): Failure | undefined {
  return tailnet && namespaceRefusal(tailnet, applicant);
}

function tagsAllowed({ tailnet, applicant }: EndpointsObserved): Failure | undefined {
  return tailnet && tagsRefusal(tailnet, applicant);
}

function namesFree({ live, endpoints }: EndpointsObserved): Failure | undefined {
  const foreign = [...live.values()]
    .filter(({ metadata }) => !isControlledBy(metadata, endpoints))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  if (foreign.length === 0) return undefined;
  return {
    reason: Reason.Conflicted,
    message: `Not made for this object, so not touched: ${foreign.join(", ")}. ` +
      "Delete or rename it, or rename this object.",
  };
}

function tailnetReady({ state, endpoints }: EndpointsObserved): Failure | undefined {
  if (isUsable(state)) return undefined;
  const check = state?.check;
  const why = check && "failure" in check ? ` (${check.failure.reason})` : "";
  return {
    reason: Reason.TailnetNotReady,
    message: `TailscaleTailnet ${endpoints.spec.tailnet} is not ready${why}. ` +
      `See: kubectl describe tailscaletailnet ${endpoints.spec.tailnet}`,
  };
}

/** What keeps the proxies as they should be, in an order in which each step has what it needs. */
function proxyActions(o: EndpointsObserved, set: ProxySet, now: number): Action[] {
  const config = configActions(o, set, now);
  const objects = proxySetObjects(set);
  const isStatefulSet = ({ type }: TypedObject) => type === STATEFUL_SET;
  return [
    ...objects.filter((wanted) => !isStatefulSet(wanted)).flatMap((w) => applyWhereNeeded(o, w)),
    ...config.actions,
    // A replica without its configuration would only crash.
    ...(config.complete ? objects.filter(isStatefulSet) : []).flatMap((w) =>
      applyWhereNeeded(o, w)
    ),
    ...podActions(o, set),
    ...retireActions(o),
    ...(isUsable(o.state) ? replacedActions(o) : []),
  ];
}

function applyWhereNeeded(o: EndpointsObserved, { type, object }: TypedObject): Action[] {
  const live = o.live.get(liveKey(type, object.metadata.name));
  return needsApply(live, object, MANAGER) ? [{ do: "apply", type, object }] : [];
}
