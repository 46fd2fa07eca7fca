/** From a client through real Envoy and a proxy of the operator's own to a host in a real tailnet. */
import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import type { TailscaleApiServer } from "../../embedded/tailnet/mod.ts";
import type { TailnetNode } from "../testbed/tailnet.ts";
import { Testbed } from "../testbed/testbed.ts";
import {
  conditionOf,
  egressManifests,
  endpoints,
  NAMESPACE,
  UNSUPPORTED,
} from "./egress_manifests.ts";
import { operatorRules, OWN_NAMESPACE_RULES } from "../../tools/deploy/rbac.ts";
import { grantedBy, usageOf } from "./rbac_audit.ts";
import {
  extensionConfigYaml,
  install,
  OAUTH,
  OperatorProcess,
  startTailscaleApi,
} from "./operator.ts";

interface Scene {
  readonly bed: Testbed;
  readonly api: TailscaleApiServer;
  readonly apiURL: string;
  readonly operator: OperatorProcess;
  readonly wiki: TailnetNode;
  readonly blog: TailnetNode;
}

const PROXIES = ["intranet-egress-0", "intranet-egress-1"];

async function ready({ bed }: Scene, type: string, name: string, namespace?: string) {
  await bed.waitFor(`${type} ${name} Ready`, async () => {
    const condition = conditionOf(await bed.get(type, name, namespace), "Ready");
    if (condition?.status === "True") return true;
    throw new Error(`${condition?.reason}: ${condition?.message}`);
  }, { timeoutMs: 90_000 });
}

/** Asks the real Envoy. */
async function ask({ bed }: Scene): Promise<string> {
  const [service] = await bed.list(
    "services",
    "envoy-gateway-system",
    "gateway.envoyproxy.io/owning-gateway-name=edge",
  );
  const url = `http://${service.spec.clusterIP}/`;
  const answer = await bed.exec(
    ["curl", "-sSf", "-m", "3", "-H", "Host: wiki.example.com", url],
  );
  return answer.trim();
}

async function routeConditions({ bed }: Scene): Promise<Record<string, string>> {
  const route = await bed.get("httproutes.gateway.networking.k8s.io", "wiki", NAMESPACE);
  const conditions = route?.status?.parents?.[0]?.conditions ?? [];
  return Object.fromEntries(
    conditions.map(({ type, status }: { type: string; status: string }) => [type, status]),
  );
}

/** Envoy Gateway runs, and was not told of the extension server. */
async function hooksNotCalled(scene: Scene): Promise<void> {
  const { bed, wiki } = scene;
  await bed.startEnvoyGateway();
  await bed.apply(egressManifests({ controlURL: bed.tailnet.controlURL, apiURL: scene.apiURL }));
  await bed.apply([endpoints(wiki.ip)]);
  await ready(scene, "tailscaletailnets", "corp");
  const condition = await bed.waitFor("the object says so", async () => {
    const object = await bed.get("tailscaleendpoints", "intranet", NAMESPACE);
    const refs = conditionOf(object, "ResolvedRefs");
    return refs?.reason === "HooksNotCalled" ? refs : undefined;
  }, { timeoutMs: 60_000 });
  assertEquals(condition.status, "False");
  assertMatch(condition.message, /Gateway office\/edge.*deploy\/envoy-gateway-values\.yaml/);
  await bed.daemons.get("envoy-gateway")?.stop();
}

async function traffic(scene: Scene): Promise<void> {
  const { bed } = scene;
  await bed.startEnvoyGateway({ extensionConfigYaml: extensionConfigYaml() });
  await ready(scene, "tailscaleendpoints", "intranet", NAMESPACE);
  const answer = await bed.waitFor("Envoy answers", () => ask(scene), { timeoutMs: 30_000 });
  assertEquals(answer, "hello from wiki");
  const { Accepted, ResolvedRefs } = await routeConditions(scene);
  assertEquals({ Accepted, ResolvedRefs }, { Accepted: "True", ResolvedRefs: "True" });
}

async function proxiesRun({ bed }: Scene): Promise<void> {
  const set = await bed.get("statefulset", "intranet-egress", NAMESPACE);
  assertEquals(set.status.readyReplicas, 2);
  assertEquals(set.metadata.ownerReferences[0].kind, "TailscaleEndpoints");
  const nodes = await bed.tailnet.backend.nodes();
  for (const name of PROXIES) {
    const node = nodes.find(({ hostname }) => hostname === name);
    assertEquals(node?.tags, ["tag:k8s", "tag:egress"], "the tailnet's tags and the object's");
    assert(node?.connected);
    const config = await bed.get("secret", `${name}-config`, NAMESPACE);
    const file = new TextDecoder().decode(Uint8Array.fromBase64(config.data["cap-106.hujson"]));
    assertEquals(JSON.parse(file).AuthKey, undefined, "a used key is dropped");
  }
}

async function statusTells({ bed }: Scene): Promise<void> {
  const tailnet = await bed.get("tailscaletailnets", "corp");
  assertEquals(tailnet.status.tailnetInfo.name, "testbed.ts.net");
  assertEquals(tailnet.status.tailnetInfo.magicDNSSuffix, "testbed.ts.net");
  // As tailscaled keeps it in its state; no source tells an id of the tailnet.
  assertEquals(tailnet.status.tailnetInfo.organization, "testbed.ts.net");
  assertEquals(tailnet.status.tailnetInfo.tailnetID, undefined);
  assertEquals(tailnet.status.credential.clientID, OAUTH.clientId);
  assertEquals(tailnet.status.usedBy, 1);
  const { status } = await bed.get("tailscaleendpoints", "intranet", NAMESPACE);
  const [set] = status.statefulSetRefs;
  assertEquals([set.name, set.readyReplicas, set.desiredReplicas], ["intranet-egress", 2, 2]);
  assertEquals(set.serviceFQDN, "intranet-egress-svc.office.svc.cluster.local");
  assertEquals(status.devices.map((d: { statefulSetPod: string }) => d.statefulSetPod), PROXIES);
  assert(status.devices.every((d: { connected: boolean }) => d.connected));
  assertEquals([status.totalEndpoints, status.healthyEndpoints], [2, 2]);
}

async function addressFollows(scene: Scene): Promise<void> {
  const { bed, wiki, blog } = scene;
  for (const [ip, text] of [[blog.ip, "hello from blog"], [wiki.ip, "hello from wiki"]] as const) {
    await bed.apply([endpoints(ip)]);
    await bed.waitFor(`Envoy follows to ${text}`, async () => await ask(scene) === text, {
      timeoutMs: 5_000,
    });
  }
}

/** What may not change while the operator is stopped and started, or is at rest. */
async function footprint({ bed, api }: Scene) {
  const keys = (await bed.tailnet.backend.keys()).map(({ id }) => id).sort();
  const nodes = (await bed.tailnet.backend.nodes()).map(({ nodeId }) => nodeId).sort();
  const versions: string[] = [];
  for (
    const type of [
      "tailscaletailnets,tailscaleendpoints,tailscalegatewayrevisions",
      "statefulsets,services,secrets,serviceaccounts,roles,rolebindings,networkpolicies",
    ]
  ) {
    for (const { kind, metadata } of await bed.list(type)) {
      if (metadata.namespace && metadata.namespace !== NAMESPACE) continue;
      versions.push(`${kind} ${metadata.name} ${metadata.resourceVersion}`);
    }
  }
  const minted =
    api.requests.filter(({ method, path }) => method === "POST" && path.endsWith("/keys")).length;
  return { keys, nodes, versions: versions.sort(), minted };
}

async function restartChangesNothing(scene: Scene): Promise<void> {
  const before = await footprint(scene);
  await scene.operator.stop();
  assertEquals(await ask(scene), "hello from wiki", "Envoy goes on without the operator");
  await startWithoutApiServer(scene);
  await scene.bed.waitFor("it has looked at the object", async () => {
    const metrics = await (await scene.operator.get("/metrics")).text();
    return /controller_runtime_reconcile_total\{controller="endpoints",result="success"\} [1-9]/
      .test(metrics);
  });
  assertEquals(await footprint(scene), before);
  assertEquals(await ask(scene), "hello from wiki");
}

/** The API server is down when the operator starts: it waits, says so, and goes on. */
async function startWithoutApiServer({ bed, operator }: Scene): Promise<void> {
  await operator.writeKubeconfig();
  await bed.stopApiServer();
  const daemon = operator.launch();
  await daemon.ready(async () => (await operator.get("/healthz")).ok);
  const ready = await operator.get("/ready");
  assertEquals(ready.status, 503);
  assertMatch(await ready.text(), /from the API server/);
  await bed.startApiServer();
  await daemon.ready(async () => (await operator.get("/ready")).ok);
}

async function otherKindsAreAnswered({ bed }: Scene): Promise<void> {
  await bed.apply(UNSUPPORTED);
  for (const { kind, metadata } of UNSUPPORTED) {
    await bed.waitFor(`${kind} says so`, async () => {
      const { status } = await bed.get(kind, metadata.name, NAMESPACE);
      // Policies have their conditions at each ancestor.
      return JSON.stringify(status ?? {}).includes(`"reason":"NotSupported"`);
    });
    await bed.kubectl("-n", NAMESPACE, "delete", kind, metadata.name);
  }
}

async function nothingIsLeft(scene: Scene): Promise<void> {
  const { bed } = scene;
  await bed.kubectl("-n", NAMESPACE, "delete", "httproute", "--all", "--wait=true");
  await bed.waitFor("the Gateway's revision goes with its last route", async () => {
    return (await bed.list("tailscalegatewayrevisions", NAMESPACE)).length === 0;
  });
  await bed.kubectl("-n", NAMESPACE, "delete", "gateway", "--all", "--wait=true");
  const gone = ["delete", "tailscaleendpoints", "--all", "--timeout=60s"];
  await bed.kubectl("-n", NAMESPACE, ...gone);
  await bed.kubectl("delete", "tailscaletailnets", "--all", "--timeout=60s");
  await bed.waitFor("no object is left", async () => {
    const left = await bed.list(
      "statefulsets,services,secrets,roles,rolebindings,networkpolicies,tailscalegatewayrevisions,pods",
      NAMESPACE,
    );
    const names = left.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      .filter((name) => name !== "Secret tailscale-oauth");
    if (names.length > 0) throw new Error(names.join(", "));
    return true;
  });
  const hostnames = (await bed.tailnet.backend.nodes()).map(({ hostname }) => hostname);
  assertEquals(hostnames.filter((name) => PROXIES.includes(name)), []);
  const keys = await bed.tailnet.backend.keys();
  const ours = keys.filter(({ description }) => description !== "testbed");
  assertEquals(ours.filter(({ used, revoked }) => !used && !revoked), [], "no key is left to use");
}

/** Granted, and rightly not used in this test. */
const UNUSED: Readonly<Record<string, string>> = {
  "update tailscaleendpoints/finalizers.gateway.tailscale.com": "asked where the cluster enforces",
  "update tailscaletailnets/finalizers.gateway.tailscale.com": "permissions of owner references",
  "update secrets": "given on to the proxies, as these too:",
  "create events": "",
  "get events": "",
  "patch events": "",
  "patch events.events.k8s.io": "of an Event that repeats",
  "create serviceaccounts/token":
    "operator/federation_test.ts: for tailnets that trust the cluster's tokens",
  "create leases.coordination.k8s.io": "of a replica: image_test.ts, replicas_test.ts",
  "get leases.coordination.k8s.io": "",
  "patch leases.coordination.k8s.io": "",
};

async function rightsAreUsed({ bed }: Scene): Promise<void> {
  const account = "system:serviceaccount:tailscale-gateway-system:tailscale-gateway";
  const { used, denied } = await usageOf(bed.stateDir, account);
  const granted = grantedBy([...operatorRules(), ...OWN_NAMESPACE_RULES]);
  // An API server that has just started refuses what it has not read yet.
  const asked = [...used, ...denied];
  assertEquals(asked.filter((permission) => !granted.has(permission)), []);
  assertEquals(Object.keys(UNUSED).filter((permission) => !granted.has(permission)), []);
  const unused = [...granted].filter((permission) => !used.has(permission));
  assertEquals(unused.filter((permission) => !(permission in UNUSED)), []);
}

Deno.test("M259 M159 egress: an HTTPRoute with a TailscaleEndpoints as backendRef reaches a tailnet host through real Envoy", async (t) => {
  await using bed = await Testbed.start();
  const { api, server } = startTailscaleApi(bed);
  const operator = new OperatorProcess(bed);
  try {
    await install(bed);
    const [wiki, blog] = [
      await bed.startTailnetNode({ name: "wiki", tags: ["tag:web"], text: "hello from wiki" }),
      await bed.startTailnetNode({ name: "blog", tags: ["tag:web"], text: "hello from blog" }),
    ];
    const scene: Scene = { bed, api, apiURL: server.url, operator, wiki, blog };
    await operator.start();
    const step = async (name: string, fn: (scene: Scene) => Promise<void>) => {
      const passed = await t.step(name, () => fn(scene));
      if (!passed) throw new Error(`what follows needs: ${name}`);
    };
    await step("Envoy Gateway without our configuration: HooksNotCalled", hooksNotCalled);
    await step("M148 the route carries traffic, and is Accepted and ResolvedRefs", traffic);
    await step("M66 M70 M93 the proxies are the operator's own StatefulSet", proxiesRun);
    await step("M6 M7 M8 M9 M23 M25 M27 status tells what is there", statusTells);
    await step("M171 the endpoint's address changes, and Envoy follows within 5 s", addressFollows);
    await step("M244 the operator restarts: no new key, device or write", restartChangesNothing);
    await step("secrets do not show in the log", () => {
      assertFalse(operator.log.includes("canary"));
      assertMatch(operator.log, /ready/);
      return Promise.resolve();
    });
    await step("kinds that do nothing yet are told apart", otherKindsAreAnswered);
    await step("M105 everything deleted: nothing is left", nothingIsLeft);
    await step("M236 the operator used what it is granted, and asked for no more", rightsAreUsed);
  } finally {
    await operator.stop();
    await server.shutdown();
  }
});
