/** The testbed itself works: no operator of ours takes part. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { CommandError } from "../testbed/command.ts";
import { Testbed } from "../testbed/testbed.ts";
import type { TailnetNode } from "../testbed/tailnet.ts";
import { proxyConfig, proxyManifests } from "./testbed_proxy_pod.ts";

const PROXY = { namespace: "proxies", name: "edge" };

function decode(secret: { data?: Record<string, string> } | undefined, key: string): string {
  const text = secret?.data?.[key];
  return text === undefined ? "" : new TextDecoder().decode(Uint8Array.fromBase64(text));
}

async function clusterIP(bed: Testbed, name: string, namespace: string): Promise<string> {
  return (await bed.get("service", name, namespace)).spec.clusterIP;
}

async function aPodAndItsService(bed: Testbed): Promise<void> {
  await bed.apply(WEB);
  await bed.kubectl("-n", "demo", "rollout", "status", "deployment/web", "--timeout=30s");
  const url = `http://${await clusterIP(bed, "web", "demo")}/`;
  const answer = await bed.waitFor("the Service answers", () => bed.exec(["curl", "-sSf", url]));
  assertEquals(answer.trim(), "hello from a pod");
}

async function aPolicyKeepsStrangersOut(bed: Testbed): Promise<void> {
  const [pod] = await bed.list("pods", "demo", "app=web");
  await bed.apply(["friend", "stranger"].map((name) => visitor(name, pod.status.podIP)));
  const last = async (name: string) =>
    (await bed.podLog(name, "demo", "visitor")).trim().split("\n").at(-1);
  const says = (name: string, text: string) =>
    bed.waitFor(`${name} says ${text}`, async () => await last(name) === text);
  for (const name of ["friend", "stranger"]) await says(name, "hello from a pod");
  await bed.apply([ONLY_FRIENDS]);
  await says("stranger", "no answer");
  await says("friend", "hello from a pod");
  await bed.kubectl("-n", "demo", "delete", "networkpolicy", "web");
  await says("stranger", "hello from a pod");
  await bed.kubectl("-n", "demo", "delete", "pod", "friend", "stranger");
}

/** A pod that asks an address again and again. */
function visitor(name: string, ip: string): object {
  const script = `while :; do curl -sf -m 1 http://${ip}:8080/ || echo no answer; sleep 0.1; done`;
  const containers = [{ name: "visitor", image: "testbed/shell:1", command: ["sh", "-c", script] }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "demo", labels: { app: name } },
    spec: { containers, terminationGracePeriodSeconds: 0 },
  };
}

const ONLY_FRIENDS = {
  apiVersion: "networking.k8s.io/v1",
  kind: "NetworkPolicy",
  metadata: { name: "web", namespace: "demo" },
  spec: {
    podSelector: { matchLabels: { app: "web" } },
    ingress: [{
      from: [{ podSelector: { matchLabels: { app: "friend" } } }],
      ports: [{ port: 8080 }],
    }],
  },
};

async function theProxyPodJoinsTheTailnet(bed: Testbed, target: TailnetNode): Promise<string> {
  const key = await bed.tailnet.mintKey({ tags: ["tag:edge"] });
  const options = { ...PROXY, controlURL: bed.tailnet.controlURL, authKey: key.key };
  await bed.apply(proxyManifests(options));
  await bed.podReady("edge-0", "proxies", 60_000);
  const state = await bed.get("secret", "edge-0", "proxies");
  const nodeId = decode(state, "device_id");
  const node = (await bed.tailnet.backend.nodes()).find((each) => each.nodeId === nodeId);
  assertEquals(node?.hostname, "edge-0");
  assertEquals(node?.tags, ["tag:edge"], "tags come from the key");
  assertEquals(node?.connected, true);
  const used = (await bed.tailnet.backend.keys()).find((each) => each.id === key.id);
  assertEquals(used?.used, true);
  const proxy = `http://${await clusterIP(bed, "edge", "proxies")}:1055`;
  const curl = ["curl", "-sSf", "-m", "10", "--proxytunnel", "-x", proxy];
  assertEquals((await bed.exec([...curl, target.url])).trim(), "hello from the tailnet");
  return nodeId;
}

async function aUsedKeyIsRefused(bed: Testbed): Promise<void> {
  const key = await bed.tailnet.mintKey({ tags: ["tag:once"] });
  await bed.startTailnetNode({ name: "once", authKey: key.key });
  const again = bed.startTailnetNode({ name: "twice", authKey: key.key });
  const refused = await assertRejects(() => again, CommandError);
  assertMatch(refused.message, new RegExp(`invalid key: API key ${key.id} not valid`));
  const unknown = bed.startTailnetNode({ name: "unknown", authKey: "tskey-auth-none" });
  await assertRejects(() => unknown, CommandError, "invalid key: API key does not exist");
  const revoked = await bed.tailnet.mintKey();
  await bed.tailnet.backend.revokeKey(revoked.id);
  const late = bed.startTailnetNode({ name: "late", authKey: revoked.key });
  await assertRejects(() => late, CommandError, "invalid key: API key does not exist");
}

async function aDeletedNodeIsGone(bed: Testbed): Promise<void> {
  const node = await bed.startTailnetNode({ name: "doomed", tags: ["tag:x"] });
  const peer = await bed.startTailnetNode({ name: "peer", tags: ["tag:x"] });
  await bed.waitFor("peer sees it", async () => (await peer.peers()).includes("doomed"));
  const known = await bed.tailnet.nodeByHostname("doomed");
  assert(await bed.tailnet.backend.deleteNode(known!.nodeId));
  await bed.waitFor("peer forgets it", async () => !(await peer.peers()).includes("doomed"));
  await node.becomes("NeedsLogin");
  assertEquals(await bed.tailnet.nodeByHostname("doomed"), undefined);
  assertEquals(await bed.tailnet.backend.deleteNode(known!.nodeId), false);
}

async function connectednessIsReal(bed: Testbed): Promise<void> {
  const node = await bed.startTailnetNode({ name: "flaky" });
  const twin = await bed.startTailnetNode({ name: "flaky" });
  const names = (await bed.tailnet.backend.nodes()).filter((each) => each.hostname === "flaky");
  assertEquals(names.map((each) => each.name.split(".")[0]), ["flaky", "flaky-1"]);
  await node.stopDaemon();
  const connected = async () =>
    (await bed.tailnet.backend.nodes()).find((each) => each.name.startsWith("flaky."))?.connected;
  await bed.waitFor("it is offline", async () => await connected() === false);
  await node.startDaemon();
  await bed.waitFor("it is back with its old state", async () => await connected() === true);
  assertEquals(await twin.state(), "Running");
}

async function aServiceMoves(bed: Testbed): Promise<void> {
  const client = await bed.startTailnetNode({ name: "client", acceptRoutes: true });
  const service = await bed.tailnet.backend.putService({ name: "svc:web", ports: ["tcp:80"] });
  const hosts: TailnetNode[] = [];
  for (const name of ["one", "two"]) {
    const host = await bed.startTailnetNode({ name, tags: ["tag:host"], text: `from ${name}` });
    await host.tailscale(
      ...["serve", "--service=svc:web", "--tcp=80", `tcp://127.0.0.1:${host.port}`],
    );
    hosts.push(host);
    const count = async () => (await bed.tailnet.backend.serviceHosts("svc:web")).length;
    await bed.waitFor(`${name} is a host`, async () => await count() === hosts.length);
  }
  const ask = (text: string) => async () =>
    (await client.fetch(`http://${service.addrs?.[0]}/`, "-m", "2")).trim() === `from ${text}`;
  await bed.waitFor("the service answers from the first host", ask("one"));
  await hosts[0]?.tailscale("serve", "drain", "svc:web");
  await bed.waitFor("the service answers from the second host", ask("two"));
}

/** Deleted in the tailnet, the pod asks for a new key, gets it by a volume's swap, and comes back. */
async function theProxyComesBackWithANewKey(bed: Testbed, nodeId: string): Promise<void> {
  await bed.tailnet.backend.deleteNode(nodeId);
  await bed.waitFor("the pod asks for a key", async () => {
    const state = await bed.get("secret", "edge-0", "proxies");
    return decode(state, "reissue_authkey") !== "";
  }, { timeoutMs: 60_000 });
  const key = await bed.tailnet.mintKey({ tags: ["tag:edge"] });
  const options = { ...PROXY, controlURL: bed.tailnet.controlURL, authKey: key.key };
  await bed.apply([proxyConfig(options)]);
  await bed.kubectl("-n", "proxies", "annotate", "pod", "edge-0", "example.com/config-hash=2");
  await bed.waitFor("it is a node again", async () => {
    const state = await bed.get("secret", "edge-0", "proxies");
    const id = decode(state, "device_id");
    const nodes = await bed.tailnet.backend.nodes();
    return id !== nodeId && nodes.some((node) => node.nodeId === id && node.connected);
  }, { timeoutMs: 60_000 });
  const pod = await bed.get("pod", "edge-0", "proxies");
  assert(pod.status.containerStatuses[0].restartCount >= 1, "the container was restarted");
}

async function envoyGatewayRoutes(bed: Testbed): Promise<void> {
  await bed.startEnvoyGateway({ infra: "kubernetes" });
  await bed.apply(GATEWAY);
  await bed.kubectl(
    ..."-n demo wait --for=condition=Programmed --timeout=60s gateway/gw".split(" "),
  );
  const gateway = await bed.get("gateway", "gw", "demo");
  const url = `http://${gateway.status.addresses[0].value}/`;
  const answer = await bed.waitFor(
    "the Gateway answers",
    () => bed.exec(["curl", "-sSf", "-m", "5", url]),
  );
  assertEquals(answer.trim(), "hello from a pod");
}

async function theControlPlaneComesBack(bed: Testbed): Promise<void> {
  await bed.stopApiServer();
  await assertRejects(() => bed.kubectl("get", "--raw", "/readyz"), CommandError);
  await bed.startApiServer();
  await bed.kubectl("-n", "demo", "scale", "deployment/web", "--replicas=2");
  await bed.kubectl("-n", "demo", "rollout", "status", "deployment/web", "--timeout=60s");
}

async function nothingOfADeletedPodStays(bed: Testbed): Promise<void> {
  await bed.kubectl("delete", "namespace", "proxies", "--timeout=90s");
  assertEquals(await bed.get("namespace", "proxies"), undefined);
  const folders = [...Deno.readDirSync(`${bed.stateDir}/pods`)].map((entry) => entry.name);
  assertEquals(folders.filter((name) => name.startsWith("proxies_")), []);
}

Deno.test({
  name: "the testbed runs a cluster, a tailnet and Envoy Gateway of real parts",
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async (t) => {
    await using bed = await Testbed.start();
    await t.step("the API server is ready and has Gateway API's kinds", async () => {
      assertEquals((await bed.kubectl("get", "--raw", "/readyz")).trim(), "ok");
      await bed.kubectl("get", "gateways,httproutes,tcproutes,envoyproxies", "-A");
    });
    await t.step("a Deployment's pod answers at its Service", () => aPodAndItsService(bed));
    await t.step("a NetworkPolicy keeps strangers out", () => aPolicyKeepsStrangersOut(bed));
    const options = { name: "db", tags: ["tag:db"], text: "hello from the tailnet" };
    const target = await bed.startTailnetNode(options);
    let nodeId = "";
    await t.step("a restricted proxy pod reaches a host of the tailnet by CONNECT", async () => {
      nodeId = await theProxyPodJoinsTheTailnet(bed, target);
    });
    await t.step("a used, an unknown and a revoked key are refused", () => aUsedKeyIsRefused(bed));
    await t.step("a deleted node is forgotten and must log in", () => aDeletedNodeIsGone(bed));
    await t.step("a node is connected while it polls", () => connectednessIsReal(bed));
    await t.step("a Tailscale Service moves to another host", () => aServiceMoves(bed));
    await t.step(
      "a deleted proxy asks for a key and comes back",
      () => theProxyComesBackWithANewKey(bed, nodeId),
    );
    await t.step("Envoy Gateway routes to a Service", () => envoyGatewayRoutes(bed));
    await t.step("the API server can be stopped and started", () => theControlPlaneComesBack(bed));
    await t.step("a deleted pod leaves nothing behind", () => nothingOfADeletedPodStays(bed));
  },
});

const WEB = `
apiVersion: v1
kind: Namespace
metadata: {name: demo}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: demo}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 5
      containers:
      - name: web
        image: testbed/web:1
        args: ["-text=hello from a pod"]
        readinessProbe: {httpGet: {path: /healthz, port: 8080}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: demo}
spec: {selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}]}
`;

const GATEWAY = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: demo}
spec:
  gatewayClassName: eg
  listeners: [{name: http, protocol: HTTP, port: 80}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: demo}
spec:
  parentRefs: [{name: gw}]
  rules: [{backendRefs: [{name: web, port: 80}]}]
`;
