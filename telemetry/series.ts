/**
 * The series that {@linkcode Metrics} records: names, labels, buckets.
 *
 * @module
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { QUEUE_BUCKETS, RECONCILE_BUCKETS } from "./buckets.ts";

/** What every name of our own begins with. */
export const OWN = "tailscale_gateway_";

/** Makes the series that are recorded as things happen. */
export function defineSeries(registry: Registry) {
  return { ...reconcileSeries(registry), ...queueSeries(registry), ...ownSeries(registry) };
}

function reconcileSeries(registry: Registry) {
  return {
    reconciles: counter(registry, "controller_runtime_reconcile_total", {
      help: "Reconciles by controller and result.",
      labels: ["controller", "result"],
    }),
    reconcileErrors: counter(registry, "controller_runtime_reconcile_errors_total", {
      help: "Reconciles that failed, by controller.",
      labels: ["controller"],
    }),
    terminalErrors: counter(registry, "controller_runtime_terminal_reconcile_errors_total", {
      help: "Reconciles that failed and are not tried again, by controller.",
      labels: ["controller"],
    }),
    reconcileTime: histogram(registry, "controller_runtime_reconcile_time_seconds", {
      help: "Length of reconciles by controller.",
      labels: ["controller"],
      buckets: RECONCILE_BUCKETS,
    }),
  };
}

function queueSeries(registry: Registry) {
  return {
    queueAdds: counter(registry, "workqueue_adds_total", {
      help: "Keys added by queue.",
      labels: ["name"],
    }),
    queueRetries: counter(registry, "workqueue_retries_total", {
      help: "Keys put back after a failure, by queue.",
      labels: ["name"],
    }),
    queueWait: histogram(registry, "workqueue_queue_duration_seconds", {
      help: "How long keys wait, by queue.",
      labels: ["name"],
      buckets: QUEUE_BUCKETS,
    }),
    queueWork: histogram(registry, "workqueue_work_duration_seconds", {
      help: "How long the work on a key takes, by queue.",
      labels: ["name"],
      buckets: QUEUE_BUCKETS,
    }),
  };
}

function ownSeries(registry: Registry) {
  return {
    tailscaleRequests: counter(registry, `${OWN}tailscale_api_requests_total`, {
      help: "Requests to the Tailscale API by tailnet and HTTP status (error: no answer).",
      labels: ["tailnet", "code"],
    }),
    hookCalls: counter(registry, `${OWN}hook_calls_total`, {
      help: "Extension hook calls by hook and result.",
      labels: ["hook", "result"],
    }),
    hookTime: histogram(registry, `${OWN}hook_duration_seconds`, {
      help: "Length of extension hook calls by hook.",
      labels: ["hook"],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    }),
    lastHookCall: gauge(registry, `${OWN}last_hook_call_timestamp_seconds`, {
      help: "When Envoy Gateway last called a hook (Unix time; 0: never).",
    }),
    snapshotInfo: gauge(registry, `${OWN}snapshot_version`, {
      help: "The version of the snapshot that hooks answer from, as a label; the value is 1.",
      labels: ["version"],
    }),
    rebuilds: counter(registry, `${OWN}snapshot_rebuilds_total`, {
      help: "Snapshots built.",
    }),
    unknownClusters: counter(registry, `${OWN}unknown_cluster_names_total`, {
      help: "Envoy clusters in hook calls whose name is of no form that is known.",
    }),
  };
}

interface Spec {
  readonly help: string;
  readonly labels?: readonly string[];
}

interface GaugeSpec extends Spec {
  /** Sets the values, at each scrape. */
  readonly collect?: (gauge: Gauge) => void;
}

/** Adds a gauge to the registry. */
export function gauge(registry: Registry, name: string, spec: GaugeSpec): Gauge {
  const made: Gauge = new Gauge({
    ...common(name, spec),
    registers: [registry],
    ...(spec.collect ? { collect: () => spec.collect?.(made) } : {}),
  });
  return made;
}

function counter(registry: Registry, name: string, spec: Spec): Counter {
  return new Counter({ ...common(name, spec), registers: [registry] });
}

function histogram(
  registry: Registry,
  name: string,
  spec: Spec & { buckets: readonly number[] },
): Histogram {
  return new Histogram({
    ...common(name, spec),
    buckets: [...spec.buckets],
    registers: [registry],
  });
}

function common(name: string, spec: Spec): { name: string; help: string; labelNames: string[] } {
  return { name, help: spec.help, labelNames: [...(spec.labels ?? [])] };
}
