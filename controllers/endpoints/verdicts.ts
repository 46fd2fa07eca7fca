/**
 * The conditions of a TailscaleEndpoints.
 *
 * @module
 */
import { no, unknown, type Verdict, yes } from "../../core/conditions.ts";
import type { StatefulSet } from "../../api/core_objects.ts";
import {
  endpointsConditions,
  TailscaleEndpointsCondition as Type,
  TailscaleEndpointsReason as Reason,
} from "../../api/tailscale_endpoints.ts";
import { type Problem, resolveEntries } from "../../backends/endpoints.ts";
import type { Failure } from "../world.ts";
import { type Machine, unreadyReason } from "./machines.ts";
import type { EndpointsObserved } from "./observe.ts";

/** All conditions, the summary last. */
export function verdictsOf(
  o: EndpointsObserved,
  failure: Failure | undefined,
  machines: readonly Machine[],
): Verdict[] {
  const accepted = acceptedVerdict(failure);
  const parts = accepted.status === "False"
    ? [Type.ResolvedRefs, Type.StatefulSetsReady, Type.DevicesReady].map((type) =>
      refuse(type, accepted)
    )
    : [resolvedRefs(o), statefulSetsReady(o, machines), devicesReady(o, machines)];
  return [accepted, ...parts, synced(), summary(accepted, parts, failure)];
}

/** Reasons that say that the spec itself cannot be acted on. */
const REFUSALS: ReadonlySet<string> = new Set(
  endpointsConditions.Accepted.reasons.filter((reason) => reason !== "Accepted"),
);

function acceptedVerdict(failure: Failure | undefined): Verdict {
  return failure && REFUSALS.has(failure.reason)
    ? no(Type.Accepted, failure.reason, failure.message)
    : yes(Type.Accepted, Reason.Accepted, "The spec can be acted on.");
}

/** A condition that is not so for a reason from elsewhere; one that is not in its closed list is Pending. */
function refuse(type: keyof typeof endpointsConditions, { reason, message }: Problem): Verdict {
  const listed: readonly string[] = endpointsConditions[type].reasons;
  return no(type, listed.includes(reason) ? reason : Reason.Pending, message);
}

function resolvedRefs(o: EndpointsObserved): Verdict {
  const problems = [
    ...resolveEntries(o.view).flatMap((entry) => "problem" in entry ? [entry.problem] : []),
    ...o.routes.problems,
    ...hooksProblem(o),
    ...proxyProblem(o),
  ];
  const first = problems[0];
  if (!first) {
    return yes(Type.ResolvedRefs, Reason.ResolvedRefs, "All references lead somewhere.");
  }
  const messages = [...new Set(problems.map(({ message }) => message))];
  return refuse(Type.ResolvedRefs, { reason: first.reason, message: messages.join(" ") });
}

function hooksProblem({ routes }: EndpointsObserved): Problem[] {
  if (routes.uncalled.length === 0) return [];
  return [{
    reason: Reason.HooksNotCalled,
    message: `Envoy Gateway never called the extension server for Gateway ` +
      `${routes.uncalled.join(", ")}, so routes to this object carry no traffic. Add the ` +
      "extensionManager of deploy/envoy-gateway-values.yaml to Envoy Gateway's configuration.",
  }];
}

function proxyProblem({ routes, view }: EndpointsObserved): Problem[] {
  if (routes.count === 0 || view.proxy) return [];
  return [{
    reason: Reason.NoReadyProxies,
    message: "No egress proxy is ready, so routes to this object have no backends.",
  }];
}

function statefulSetsReady(
  { set, statefulSets }: EndpointsObserved,
  machines: readonly Machine[],
): Verdict {
  const type = Type.StatefulSetsReady;
  if (set?.replicas === 0) return yes(type, Reason.NoReplicas, "No replicas are wanted.");
  const live = statefulSets.find(({ metadata }) => metadata.name === set?.name);
  if (!live) return no(type, Reason.StatefulSetsPending, "The StatefulSet is not there yet.");
  const { ready, wanted } = readiness(live);
  const text = `${live.metadata.name}: ${ready} of ${wanted} replicas are ready.`;
  if (ready === wanted && wanted === set?.replicas) return yes(type, Reason.AllReplicasReady, text);
  const why = machines.flatMap(({ pod, podObject }) => {
    const reason = unreadyReason(podObject);
    return reason ? [`${pod}: ${reason}`] : [];
  });
  return no(type, Reason.ReplicasNotReady, why.length > 0 ? `${text} ${why.join("; ")}.` : text);
}

/** How many replicas are ready; none counts while the controller has not seen the spec. */
function readiness({ metadata, spec, status }: StatefulSet): { ready: number; wanted: number } {
  const seen = status?.observedGeneration === undefined ||
    status.observedGeneration >= (metadata.generation ?? 0);
  return { ready: seen ? status?.readyReplicas ?? 0 : 0, wanted: spec.replicas ?? 1 };
}

function devicesReady(
  { set, view, endpoints }: EndpointsObserved,
  machines: readonly Machine[],
): Verdict {
  const type = Type.DevicesReady;
  if (set?.replicas === 0) return yes(type, Reason.NoReplicas, "No replicas are wanted.");
  if (!view.devices) {
    const message = `The devices of TailscaleTailnet ${endpoints.spec.tailnet} are not known.`;
    return unknown(type, Reason.TailnetNotReady, message);
  }
  const missing = machines.filter(({ device }) => !device?.connectedToControl);
  if (missing.length > 0) {
    const names = missing.map(({ pod, nodeId }) => `${pod}${nodeId ? "" : " (not logged in)"}`);
    const message = `Not connected to the tailnet: ${names.join(", ")}.`;
    return no(type, Reason.DevicesNotConnected, message);
  }
  return renamedVerdict(machines) ??
    yes(type, Reason.AllDevicesConnected, `${machines.length} devices are connected.`);
}

/** A device whose name was taken got a suffix: nobody finds it under the name that it is to have. */
function renamedVerdict(machines: readonly Machine[]): Verdict | undefined {
  const names = machines.flatMap(({ device, hostname }) =>
    device && device.name.split(".")[0] !== hostname
      ? [`${device.name} (asked for ${hostname})`]
      : []
  );
  if (names.length === 0) return undefined;
  const message = `Another device has the name: ${names.join(", ")}. ` +
    "Remove that device, or set hostnamePrefix.";
  return no(Type.DevicesReady, Reason.NameConflict, message);
}

function synced(): Verdict {
  return yes(Type.Synced, Reason.DiscoveryDisabled, "autoDiscovery is not enabled.");
}

function summary(
  accepted: Verdict,
  parts: readonly Verdict[],
  failure: Failure | undefined,
): Verdict {
  if (failure && accepted.status === "True") return refuse(Type.Ready, failure);
  const first = [accepted, ...parts].find(({ status }) => status !== "True");
  return first
    ? no(Type.Ready, first.reason, first.message)
    : yes(Type.Ready, Reason.Ready, "Proxies run, are in the tailnet, and references resolve.");
}
