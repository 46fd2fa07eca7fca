/** etcd, kube-apiserver and kube-controller-manager. */
import { join } from "node:path";
import { API_SERVER, HOST_IP, PORTS, SERVICE_CIDR } from "./addresses.ts";
import { tryRun } from "./command.ts";
import type { Daemon, Daemons } from "./daemons.ts";
import { program } from "./paths.ts";

/** Those that act on what this project makes, and those without which namespaces don't work. */
const CONTROLLERS = [
  "deployment",
  "replicaset",
  "statefulset",
  "disruption",
  "endpointslice",
  "garbage-collector",
  "namespace",
  "serviceaccount",
].map((name) => `${name}-controller`).concat("root-ca-certificate-publisher-controller");

export interface ControlPlaneOptions {
  readonly daemons: Daemons;
  /** Holds `etcd/` and `kube/`. */
  readonly stateDir: string;
}

/** Starts it and waits until it answers and the default service account is there. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<void> {
  startEtcd(options);
  const apiServer = startApiServer(options);
  await apiServer.ready(() => isReady(options.stateDir), { timeoutMs: 90_000 });
  const controllers = startControllerManager(options);
  const kubeconfig = join(options.stateDir, "kube", "admin.kubeconfig");
  const account = [program("kubectl"), "--kubeconfig", kubeconfig, "get", "sa", "default"];
  await controllers.ready(async () => (await tryRun(account)).code === 0, { timeoutMs: 60_000 });
}

async function isReady(stateDir: string): Promise<boolean> {
  const ca = join(stateDir, "kube", "ca.crt");
  return (await tryRun(["curl", "-sSf", "--cacert", ca, `${API_SERVER}/readyz`])).code === 0;
}

function startEtcd({ daemons, stateDir }: ControlPlaneOptions): Daemon {
  const client = `http://127.0.0.1:${PORTS.etcd}`;
  const peer = `http://127.0.0.1:${PORTS.etcdPeer}`;
  return daemons.start("etcd", [
    program("etcd"),
    "--name=testbed",
    `--data-dir=${join(stateDir, "etcd")}`,
    "--unsafe-no-fsync",
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=testbed=${peer}`,
    "--log-level=warn",
  ]);
}

/** Where each request of a service account is noted, as a line of JSON. */
export const auditLog = (stateDir: string): string => join(stateDir, "log", "audit.log");

/** Who asked for what, and whether he might; never what was in it. */
const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: Metadata, userGroups: ["system:serviceaccounts"]}
- {level: None}
`;

/**
 * Starts the API server alone; etcd must run. Tests stop and start it to show
 * what an outage does.
 */
export function startApiServer({ daemons, stateDir }: ControlPlaneOptions): Daemon {
  const file = (name: string) => join(stateDir, "kube", name);
  Deno.writeTextFileSync(file("audit.yaml"), AUDIT_POLICY);
  return daemons.start("kube-apiserver", [
    program("kube-apiserver"),
    `--etcd-servers=http://127.0.0.1:${PORTS.etcd}`,
    "--bind-address=0.0.0.0",
    `--advertise-address=${HOST_IP}`,
    `--secure-port=${PORTS.apiServer}`,
    `--tls-cert-file=${file("server.crt")}`,
    `--tls-private-key-file=${file("server.key")}`,
    `--client-ca-file=${file("ca.crt")}`,
    `--token-auth-file=${file("tokens.csv")}`,
    "--authorization-mode=RBAC",
    "--anonymous-auth=true",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${file("sa.pub")}`,
    `--service-account-signing-key-file=${file("sa.key")}`,
    `--service-cluster-ip-range=${SERVICE_CIDR}`,
    "--allow-privileged=true",
    "--enable-priority-and-fairness=false",
    `--audit-policy-file=${file("audit.yaml")}`,
    `--audit-log-path=${auditLog(stateDir)}`,
    "--profiling=false",
    "--v=1",
  ]);
}

function startControllerManager({ daemons, stateDir }: ControlPlaneOptions): Daemon {
  const file = (name: string) => join(stateDir, "kube", name);
  return daemons.start("kube-controller-manager", [
    program("kube-controller-manager"),
    `--kubeconfig=${file("controllers.kubeconfig")}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${PORTS.controllerManager}`,
    "--leader-elect=false",
    // Otherwise RBAC forbids its controllers what they do.
    "--use-service-account-credentials=true",
    `--root-ca-file=${file("ca.crt")}`,
    `--service-account-private-key-file=${file("sa.key")}`,
    "--profiling=false",
    `--controllers=${CONTROLLERS.join(",")}`,
  ]);
}
