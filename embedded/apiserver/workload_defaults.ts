/**
 * The defaults of pods, and of what makes pods.
 *
 * @module
 */
import { fallback, type JsonMap, mapAt, mapsIn } from "./json.ts";
import { canonicalQuantity } from "./quantity.ts";

const PROBE: JsonMap = {
  timeoutSeconds: 1,
  periodSeconds: 10,
  successThreshold: 1,
  failureThreshold: 3,
};

function containerDefaults(container: JsonMap): void {
  const image = String(container["image"] ?? "");
  const latest = !image.includes("@") && (/:latest$/.test(image) || !/:[^/]+$/.test(image));
  fallback(container, {
    imagePullPolicy: latest ? "Always" : "IfNotPresent",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
  for (const port of mapsIn(container["ports"])) fallback(port, { protocol: "TCP" });
  for (const variable of mapsIn(container["env"])) {
    const fieldRef = mapAt(mapAt(variable, "valueFrom"), "fieldRef");
    if (fieldRef) fallback(fieldRef, { apiVersion: "v1" });
  }
  for (const name of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = mapAt(container, name);
    if (probe) fallback(probe, PROBE);
    const http = mapAt(probe, "httpGet");
    if (http) fallback(http, { scheme: "HTTP", path: "/" });
    const grpc = mapAt(probe, "grpc");
    if (grpc) fallback(grpc, { service: "" });
  }
  quantities(mapAt(container, "resources"));
}

/** Quantities come back in canonical form, and requests default to limits. */
function quantities(resources: JsonMap | undefined): void {
  for (const name of ["requests", "limits"]) {
    const amounts = mapAt(resources, name);
    for (const [key, value] of Object.entries(amounts ?? {})) {
      if (amounts && (typeof value === "string" || typeof value === "number")) {
        amounts[key] = canonicalQuantity(String(value));
      }
    }
  }
  const limits = mapAt(resources, "limits");
  if (resources && limits) resources["requests"] = { ...limits, ...mapAt(resources, "requests") };
}

const VOLUME_MODES: Readonly<Record<string, JsonMap>> = {
  secret: { defaultMode: 420 },
  configMap: { defaultMode: 420 },
  projected: { defaultMode: 420 },
  downwardAPI: { defaultMode: 420 },
  hostPath: { type: "" },
};

function podSpecDefaults(spec: JsonMap): void {
  fallback(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  // Two names for one field: the API server keeps them equal.
  const account = spec["serviceAccountName"] ?? spec["serviceAccount"];
  if (account) Object.assign(spec, { serviceAccountName: account, serviceAccount: account });
  for (const list of ["containers", "initContainers"]) {
    mapsIn(spec[list]).forEach(containerDefaults);
  }
  for (const volume of mapsIn(spec["volumes"])) {
    if (Object.keys(volume).every((name) => name === "name")) volume["emptyDir"] = {};
    for (const [source, mode] of Object.entries(VOLUME_MODES)) {
      const map = mapAt(volume, source);
      if (map) fallback(map, mode);
    }
    sourceDefaults(volume);
  }
}

function sourceDefaults(volume: JsonMap): void {
  for (const source of mapsIn(mapAt(volume, "projected")?.["sources"])) {
    const token = mapAt(source, "serviceAccountToken");
    if (token) fallback(token, { expirationSeconds: 3600 });
    itemDefaults(mapAt(source, "downwardAPI"));
  }
  itemDefaults(mapAt(volume, "downwardAPI"));
}

function itemDefaults(downward: JsonMap | undefined): void {
  for (const item of mapsIn(downward?.["items"])) {
    const fieldRef = mapAt(item, "fieldRef");
    if (fieldRef) fallback(fieldRef, { apiVersion: "v1" });
  }
}

const SPECS: Readonly<Record<string, JsonMap>> = {
  StatefulSet: {
    replicas: 1,
    podManagementPolicy: "OrderedReady",
    revisionHistoryLimit: 10,
    updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
  },
  Deployment: {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: {
      type: "RollingUpdate",
      rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" },
    },
  },
};

/** Sets the defaults of a Pod, StatefulSet or Deployment in place. */
export function workloadDefaults(object: JsonMap): void {
  const spec = mapAt(object, "spec");
  if (!spec) return;
  if (object["kind"] === "Pod") {
    fallback(spec, { enableServiceLinks: true });
    return podSpecDefaults(spec);
  }
  fallback(spec, SPECS[String(object["kind"])] ?? {});
  const podSpec = mapAt(mapAt(spec, "template"), "spec");
  if (podSpec) podSpecDefaults(podSpec);
}
