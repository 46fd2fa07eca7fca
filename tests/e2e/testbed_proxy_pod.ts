/** The proxy pod of the design, written by hand: the testbed must run it without our operator. */

export interface ProxyPodOptions {
  readonly namespace: string;
  readonly name: string;
  readonly controlURL: string;
  readonly authKey: string;
}

/** Config of replica 0, as containerboot reads it. */
export function proxyConfig(options: ProxyPodOptions): object {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: `${options.name}-0-config`, namespace: options.namespace },
    stringData: {
      "cap-106.hujson": JSON.stringify({
        Version: "alpha0",
        Hostname: `${options.name}-0`,
        ServerURL: options.controlURL,
        AuthKey: options.authKey,
        AcceptDNS: false,
        Locked: false,
      }),
    },
  };
}

/** Namespace, RBAC, Secrets, Service and a StatefulSet with one replica. */
export function proxyManifests(options: ProxyPodOptions): object[] {
  const { namespace, name } = options;
  const metadata = { name, namespace };
  return [
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: namespace,
        labels: { "pod-security.kubernetes.io/enforce": "restricted" },
      },
    },
    { apiVersion: "v1", kind: "ServiceAccount", metadata },
    ...rbac(options),
    { apiVersion: "v1", kind: "Secret", metadata: { name: `${name}-0`, namespace } },
    proxyConfig(options),
    {
      apiVersion: "v1",
      kind: "Service",
      metadata,
      spec: { selector: { app: name }, ports: [{ name: "connect", port: 1055 }] },
    },
    {
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata,
      spec: {
        replicas: 1,
        serviceName: name,
        podManagementPolicy: "Parallel",
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: { app: name } }, spec: podSpec(name) },
      },
    },
  ];
}

function rbac({ namespace, name }: ProxyPodOptions): object[] {
  const rules = [
    {
      apiGroups: [""],
      resources: ["secrets"],
      resourceNames: [`${name}-0`],
      verbs: ["get", "update", "patch"],
    },
    { apiGroups: [""], resources: ["events"], verbs: ["get", "create", "patch"] },
  ];
  const api = "rbac.authorization.k8s.io";
  return [
    { apiVersion: `${api}/v1`, kind: "Role", metadata: { name, namespace }, rules },
    {
      apiVersion: `${api}/v1`,
      kind: "RoleBinding",
      metadata: { name, namespace },
      roleRef: { apiGroup: api, kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

function podSpec(name: string): object {
  return {
    serviceAccountName: name,
    terminationGracePeriodSeconds: 60,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [{
      name: "tailscale",
      image: "tailscale/tailscale:v1.98.10",
      env: proxyEnv(),
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      },
      readinessProbe: { httpGet: { path: "/healthz", port: 9002 } },
      volumeMounts: [
        { name: "tmp", mountPath: "/tmp" },
        { name: "tailscaledconfig-0", mountPath: `/etc/tsconfig/${name}-0`, readOnly: true },
      ],
    }],
    volumes: [
      { name: "tmp", emptyDir: {} },
      { name: "tailscaledconfig-0", secret: { secretName: `${name}-0-config`, optional: true } },
    ],
  };
}

function proxyEnv(): object[] {
  const field = (name: string, fieldPath: string) => ({
    name,
    valueFrom: { fieldRef: { fieldPath } },
  });
  return [
    field("POD_NAME", "metadata.name"),
    field("POD_UID", "metadata.uid"),
    field("POD_IP", "status.podIP"),
    field("POD_IPS", "status.podIPs"),
    { name: "TS_USERSPACE", value: "true" },
    { name: "TS_KUBE_SECRET", value: "$(POD_NAME)" },
    { name: "TS_STATE", value: "kube:$(POD_NAME)" },
    { name: "TS_EXPERIMENTAL_VERSIONED_CONFIG_DIR", value: "/etc/tsconfig/$(POD_NAME)" },
    { name: "TS_ENABLE_HEALTH_CHECK", value: "true" },
    { name: "TS_EXPERIMENTAL_SERVICE_AUTO_ADVERTISEMENT", value: "false" },
    { name: "TS_OUTBOUND_HTTP_PROXY_LISTEN", value: ":1055" },
  ];
}
