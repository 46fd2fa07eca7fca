/**
 * The conditions of a TailscaleEndpoints.
 *
 * @module
 */
import { no, type Verdict, yes } from "../../core/conditions.ts";
import {
  TailscaleEndpointsCondition as Type,
  TailscaleEndpointsReason as Reason,
} from "../../api/tailscale_endpoints.ts";
import { endpointsConditions } from "../../api/tailscale_endpoints.ts";
import { resolveEntries } from "../../backends/endpoints.ts";
import type { Failure } from "../world.ts";
import type { StatefulSetObject } from "../proxies/live.ts";
import type { Machine } from "./machines.ts";
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
      no(type, reasonFor(type, accepted.reason), accepted.message)
    )
    : [resolvedRefs(o), statefulSetsReady(o), devicesReady(o, machines)];
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

/** The refusal's reason where the condition's closed list has it, else that it is pending. */
function reasonFor(type: keyof typeof endpointsConditions, reason: string): string {
  const listed = endpointsConditions[type].reasons as readonly string[];
  return listed.includes(reason) ? reason : Reason.Pending;
}

function resolvedRefs(o: EndpointsObserved): Verdict {
  const devices = o.state?.fetchedAt === undefined ? undefined : o.state.devices;
  const entries = resolveEntries({ object: o.endpoints, ...(devices ? { devices } : {}) });
  const problems = [
    ...entries.flatMap((entry) => "problem" in entry ? [entry.problem] : []),
    ...o.routes.problems,
    ...hooksProblem(o),
    ...proxyProblem(o),
  ];
  const first = problems[0];
  if (!first) {
    return yes(Type.ResolvedRefs, Reason.ResolvedRefs, "All references lead somewhere.");
  }
  const messages = [...new Set(problems.map(({ message }) => message))];
  return no(Type.ResolvedRefs, first.reason, messages.join(" "));
}

function hooksProblem({ routes }: EndpointsObserved): Failure[] {
  if (routes.uncalled.length === 0) return [];
  return [{
    reason: Reason.HooksNotCalled,
    message: `Envoy Gateway never called the extension server for Gateway ` +
      `${routes.uncalled.join(", ")}, so routes to this object carry no traffic. Add the ` +
      "extensionManager of deploy/envoy-gateway-values.yaml to Envoy Gateway's configuration.",
  }];
}

function proxyProblem(o: EndpointsObserved): Failure[] {
  if (o.routes.count === 0 || o.statefulSets.some(({ status }) => status?.readyReplicas)) return [];
  return [{
    reason: Reason.NoReadyProxies,
    message: "No egress proxy is ready, so routes to this object have no backends.",
  }];
}

function statefulSetsReady({ set, statefulSets }: EndpointsObserved): Verdict {
  const type = Type.StatefulSetsReady;
  if (set?.replicas === 0) return yes(type, Reason.NoReplicas, "No replicas are wanted.");
  const live = statefulSets.find(({ metadata }) => metadata.name === set?.name);
  if (!live) return no(type, Reason.StatefulSetsPending, "The StatefulSet is not there yet.");
  const { ready, wanted } = readiness(live);
  const text = `${live.metadata.name}: ${ready} of ${wanted} replicas are ready.`;
  return ready === wanted && wanted === set?.replicas
    ? yes(type, Reason.AllReplicasReady, text)
    : no(type, Reason.ReplicasNotReady, text);
}

/** How many replicas are ready; none counts while the controller has not seen the spec. */
function readiness(
  { metadata, spec, status }: StatefulSetObject,
): { ready: number; wanted: number } {
  const seen = status?.observedGeneration === undefined ||
    status.observedGeneration >= (metadata.generation ?? 0);
  return { ready: seen ? status?.readyReplicas ?? 0 : 0, wanted: spec?.replicas ?? 1 };
}

function devicesReady({ set }: EndpointsObserved, machines: readonly Machine[]): Verdict {
  const type = Type.DevicesReady;
  if (set?.replicas === 0) return yes(type, Reason.NoReplicas, "No replicas are wanted.");
  const missing = machines.filter(({ device }) => !device?.connectedToControl);
  if (missing.length > 0) {
    const names = missing.map(({ pod, nodeId }) => `${pod}${nodeId ? "" : " (not logged in)"}`);
    return no(
      type,
      Reason.DevicesNotConnected,
      `Not connected to the tailnet: ${names.join(", ")}.`,
    );
  }
  const renamed = machines.filter(({ device, hostname }) =>
    device?.name.split(".")[0] !== hostname
  );
  if (renamed.length > 0) {
    const names = renamed.map(({ device, hostname }) => `${device?.name} (asked for ${hostname})`);
    return no(
      type,
      Reason.NameConflict,
      `Another device has the name: ${
        names.join(", ")
      }. Remove that device, or set hostnamePrefix.`,
    );
  }
  return yes(type, Reason.AllDevicesConnected, `${machines.length} devices are connected.`);
}

function synced(): Verdict {
  return no(Type.Synced, Reason.DiscoveryDisabled, "autoDiscovery is not enabled.");
}

function summary(
  accepted: Verdict,
  parts: readonly Verdict[],
  failure: Failure | undefined,
): Verdict {
  if (failure && accepted.status === "True") return no(Type.Ready, failure.reason, failure.message);
  const first = [accepted, ...parts].find(({ status }) => status !== "True");
  return first
    ? no(Type.Ready, first.reason, first.message)
    : yes(Type.Ready, Reason.Ready, "Proxies run, are in the tailnet, and references resolve.");
}
