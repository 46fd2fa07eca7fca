/**
 * TailscaleEndpoints: runs the proxies that the object asks for, as machines of
 * its tailnet, and says how they are.
 *
 * @module
 */
import { needsApply } from "../../kube/apply.ts";
import { isControlledBy } from "../../core/labels.ts";
import { STATEFUL_SET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { withDefaults } from "../../api/tailscale_endpoints_defaults.ts";
import { TailscaleEndpointsReason as Reason } from "../../api/tailscale_endpoints.ts";
import { type Action, fieldManagerOf, IDLE, type Plan } from "../controller.ts";
import { finalizerAction, hasFinalizer } from "../finalizer.ts";
import { proxySetObjects, type TypedObject } from "../proxies/objects.ts";
import type { ProxySet } from "../proxies/proxy_set.ts";
import type { Failure } from "../world.ts";
import { planDeletion } from "./deletion.ts";
import { type EndpointsObserved, liveKey, NAME } from "./observe.ts";
import { unsupported } from "./proxy_set.ts";
import { configActions, podActions, retireActions } from "./replicas.ts";
import { statusOf } from "./status.ts";

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
  const actions = o.set && !blocked(o, refused) ? proxyActions(o, o.set, now) : [];
  // Before the tailnet was tried, what was said before stands.
  const silent = !o.tailnetKnown && o.endpoints.status !== undefined;
  return {
    actions: [...held, ...actions],
    ...(silent ? {} : { status: statusOf(o, refused ?? o.failure, now) }),
    ...(o.failure?.retryAt ? { wakeAt: o.failure.retryAt } : {}),
  };
}

/** Does the refusal mean that not even what runs is to be kept in shape? */
function blocked(o: EndpointsObserved, refused: Failure | undefined): boolean {
  if (!refused || refused.reason === Reason.TailnetNotReady) return false;
  return o.set === undefined || refused.reason === Reason.Conflicted;
}

type Check = (o: EndpointsObserved) => Failure | undefined;

const CHECKS: readonly Check[] = [
  supported, // nothing is asked for that no controller does yet
  tailnetExists, // the TailscaleTailnet that it names is there
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

function supported({ endpoints }: EndpointsObserved): Failure | undefined {
  const message = unsupported(withDefaults(endpoints.spec));
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

function namesFree({ set, live, endpoints }: EndpointsObserved): Failure | undefined {
  if (!set) return undefined;
  const foreign = proxySetObjects(set)
    .map(({ type, object }) => live.get(liveKey(type, object.metadata.name)))
    .filter((object) => object && !isControlledBy(object.metadata, endpoints))
    .map((object) => `${object?.kind} ${object?.metadata.name}`);
  if (foreign.length === 0) return undefined;
  return {
    reason: Reason.Conflicted,
    message: `Not made for this object, so not touched: ${foreign.join(", ")}. ` +
      "Delete or rename it, or rename this object.",
  };
}

function tailnetReady({ state, endpoints }: EndpointsObserved): Failure | undefined {
  const check = state?.check;
  if (check && "scopes" in check && check.missing.length === 0) return undefined;
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
  const objects = proxySetObjects(set).flatMap((wanted) => {
    // A replica without its configuration would only crash.
    if (wanted.type === STATEFUL_SET && !config.complete) return [];
    return applyWhereNeeded(o, wanted);
  });
  const isStatefulSet = (action: Action) => action.do === "apply" && action.type === STATEFUL_SET;
  return [
    ...objects.filter((action) => !isStatefulSet(action)),
    ...config.actions,
    ...objects.filter(isStatefulSet),
    ...podActions(o, set),
    ...retireActions(o, set),
  ];
}

function applyWhereNeeded(o: EndpointsObserved, { type, object }: TypedObject): Action[] {
  const live = o.live.get(liveKey(type, object.metadata.name));
  return needsApply(live, object, MANAGER) ? [{ do: "apply", type, object }] : [];
}
