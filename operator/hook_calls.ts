/**
 * What metrics and traces tell of Envoy Gateway's calls.
 *
 * @module
 */
import type { HookCall } from "../extension/server.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { recordSpan } from "../telemetry/tracing.ts";

/** Counts a call, and makes a span of it. */
export function countHookCall(call: HookCall, metrics: Metrics): void {
  const { hook, durationMs, snapshot, counts, error, revisions } = call;
  metrics.hookCalled(call);
  metrics.unknownClusterNames(counts.unknown ?? 0);
  recordSpan({
    name: `hook ${hook}`,
    durationMs,
    attributes: {
      hook,
      snapshot,
      gateways: revisions.map(({ gateway }) => gateway).join(","),
      ...counts,
    },
    ...(error === undefined ? {} : { error }),
  });
}
