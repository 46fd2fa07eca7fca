/**
 * Fixed addresses and ports. The testbed has a network namespace of its own, so
 * they clash with nothing, and a kubeconfig stays true from run to run.
 */

/** This machine, as pods know it. */
export const HOST_IP = "10.244.0.1";
/** Every address in it is this machine's: for servers that are no pods. */
export const FLAT_CIDR = "10.245.0.0/16";
export const POD_CIDR = "10.244.0.0/16";
export const FIRST_POD_IP = "10.244.1.1";
/** Hosts of tailnets have addresses that begin so. */
export const NODE_PREFIX = "10.246";
export const SERVICE_CIDR = "10.96.0.0/16";
/** ClusterIP of `kubernetes.default.svc`. */
export const KUBERNETES_IP = "10.96.0.1";

export const PORTS = {
  apiServer: 6443,
  etcd: 2379,
  etcdPeer: 2380,
  controllerManager: 10257,
  proxyHealth: 10256,
  proxyMetrics: 10249,
  dnsReady: 8181,
  gatewayAdmin: 19000,
  gatewayHealth: 8081,
  /** The first tailnet's control server; its DERP and STUN follow, other tailnets after them. */
  control: 16404,
  /** Servers behind tailnet nodes listen from here on. */
  tailnetServer: 17000,
} as const;

export const API_SERVER: string = `https://${HOST_IP}:${PORTS.apiServer}`;
