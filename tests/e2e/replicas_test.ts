/** Two replicas of the operator on real parts: one acts, both serve, either may go. */
import { setTimeout as pause } from "node:timers/promises";
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TestEnvoyGateway } from "../../operator/testing/envoy.ts";
import { TestService } from "../../operator/testing/replicas.ts";
import { PERMISSIONS } from "../../tools/permissions.ts";
import type { Daemon } from "../testbed/daemons.ts";
import type { TailnetNode } from "../testbed/tailnet.ts";
import { Testbed } from "../testbed/testbed.ts";
import { conditionOf, egressManifests, endpoints, NAMESPACE } from "./egress_manifests.ts";
import { extensionConfigYaml, install, OperatorProcess, startTailscaleApi } from "./operator.ts";

const MAIN = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "main.ts");
const SYSTEM = "tailscale-gateway-system";
const CLUSTER = `httproute/${NAMESPACE}/wiki/rule/0`;
const LEASE_MS = 15_000;
/** What this machine may take for requests, next to the times that are promised. */
const SLACK_MS = 1_500;

/** One replica. */
class Replica {
  daemon: Daemon | undefined;
  #starts = 0;

  constructor(readonly bed: Testbed, readonly name: string, readonly offset: number) {}

  get port(): number {
    return 5010 + this.offset;
  }

  async isReady(): Promise<boolean> {
    const url = `http://127.0.0.1:${18080 + this.offset}/ready`;
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
      await response.body?.cancel();
      return response.ok;
    } catch {
      return false;
    }
  }

  async start(): Promise<void> {
    const daemon = this.bed.daemons.start(`operator-${this.name}-${++this.#starts}`, [
      ...[Deno.execPath(), "run", ...PERMISSIONS, "--no-lock", "--no-check", MAIN, "run"],
      `--kubeconfig=${join(this.bed.stateDir, "operator.kubeconfig")}`,
      `--namespace=${SYSTEM}`,
      "--leader-elect=true",
      `--extension-address=127.0.0.1:${this.port}`,
      `--http-address=127.0.0.1:${18080 + this.offset}`,
      "--log-level=debug",
    ], { cwd: this.bed.stateDir, env: { POD_NAME: this.name } });
    this.daemon = daemon;
    await daemon.ready(() => this.isReady());
  }

  /** What its hooks answer: the upstreams of the route's cluster. */
  async upstreams(): Promise<readonly string[]> {
    const gateway = new TestEnvoyGateway(this.port);
    try {
      return (await gateway.translate([CLUSTER])).get(CLUSTER) ?? [];
    } finally {
      gateway.close();
    }
  }
}

interface Scene {
  readonly bed: Testbed;
  readonly apiURL: string;
  readonly replicas: readonly Replica[];
  readonly service: TestService;
  readonly wiki: TailnetNode;
  readonly blog: TailnetNode;
}

/** The replica that leads, and the other one. */
async function roles({ bed, replicas }: Scene): Promise<[Replica, Replica]> {
  const holder = await holderOf(bed);
  const leader = replicas.find(({ name }) => holder.startsWith(`${name}_`));
  assert(leader, `the Lease's holder is ${holder}`);
  return [leader, replicas.find((replica) => replica !== leader)!];
}

async function holderOf(bed: Testbed): Promise<string> {
  const lease = await bed.get("leases.coordination.k8s.io", "tailscale-gateway", SYSTEM);
  return lease?.spec?.holderIdentity ?? "";
}

/** Waits until a replica leads; gives how long that took. */
async function untilLeads({ bed }: Scene, { name }: Replica): Promise<number> {
  const began = Date.now();
  await bed.waitFor(`${name} leads`, async () => (await holderOf(bed)).startsWith(`${name}_`), {
    timeoutMs: 60_000,
  });
  return Date.now() - began;
}

/** Waits until the leader has taken in the present spec. */
async function untilObserved({ bed }: Scene): Promise<void> {
  await bed.waitFor("the status is of the present spec", async () => {
    const object = await bed.get("tailscaleendpoints", "intranet", NAMESPACE);
    const ready = conditionOf(object, "Ready") as unknown as { observedGeneration?: number };
    return ready?.observedGeneration === object.metadata.generation;
  });
}

/** Asks the real Envoy until it answers so. */
async function untilEnvoySays({ bed }: Scene, text: string): Promise<void> {
  const [{ spec }] = await bed.list(
    "services",
    "envoy-gateway-system",
    "gateway.envoyproxy.io/owning-gateway-name=edge",
  );
  const command = ["curl", "-sSf", "-m", "3", "-H", "Host: wiki.example.com"];
  await bed.waitFor(
    `Envoy says ${text}`,
    async () => (await bed.exec([...command, `http://${spec.clusterIP}/`])).trim() === text,
    { timeoutMs: 60_000 },
  );
}

async function footprint({ bed }: Scene) {
  return {
    keys: (await bed.tailnet.backend.keys()).map(({ id }) => id).sort(),
    nodes: (await bed.tailnet.backend.nodes()).map(({ nodeId }) => nodeId).sort(),
  };
}

async function bothServe(scene: Scene): Promise<void> {
  const { bed, replicas } = scene;
  await bed.apply(egressManifests({ controlURL: bed.tailnet.controlURL, apiURL: scene.apiURL }));
  await bed.apply([endpoints(scene.wiki.ip)]);
  await bed.startEnvoyGateway({ extensionConfigYaml: extensionConfigYaml() });
  await bed.waitFor("Ready", async () => {
    const object = await bed.get("tailscaleendpoints", "intranet", NAMESPACE);
    return conditionOf(object, "Ready")?.status === "True";
  }, { timeoutMs: 90_000 });
  await untilEnvoySays(scene, "hello from wiki");
  const answers = await Promise.all(replicas.map((replica) => replica.upstreams()));
  assertEquals(answers, [[`${scene.wiki.ip}:80`], [`${scene.wiki.ip}:80`]]);
  const [leader, other] = await roles(scene);
  assert(leader.daemon!.log().includes('"applied"'));
  assert(!other.daemon!.log().includes('"applied"'), "the other writes nothing");
}

async function leaderKilled(scene: Scene): Promise<void> {
  const [leader, other] = await roles(scene);
  const before = await footprint(scene);
  leader.daemon!.signal("SIGKILL");
  const killedAt = Date.now();
  scene.service.ports = [other.port];
  await scene.bed.apply([endpoints(scene.blog.ip)]);
  await untilEnvoySays(scene, "hello from blog");
  await untilLeads(scene, other);
  assertLessOrEqual(Date.now() - killedAt, LEASE_MS + 2_000 + SLACK_MS);
  await untilObserved(scene);
  assertEquals(await footprint(scene), before, "no new key and no new device");
}

async function leaderPaused(scene: Scene): Promise<void> {
  await scene.replicas.find(({ daemon }) => !daemon?.running)!.start();
  const [leader, other] = await roles(scene);
  leader.daemon!.signal("SIGSTOP");
  scene.service.ports = [other.port];
  assertLessOrEqual(await untilLeads(scene, other), LEASE_MS + 2_000 + SLACK_MS);
  // Something that it would write if it still led.
  await scene.bed.apply([endpoints(scene.wiki.ip)]);
  await untilObserved(scene);
  const before = leader.daemon!.log().length;
  leader.daemon!.signal("SIGCONT");
  await scene.bed.waitFor(
    "it notices",
    () => leader.daemon!.log().slice(before).includes("leads no more"),
  );
  await scene.bed.waitFor("it is ready", () => leader.isReady());
  assert(!leader.daemon!.log().slice(before).includes('"applied"'), "it writes nothing");
  assert((await holderOf(scene.bed)).startsWith(`${other.name}_`));
  assertEquals(await leader.upstreams(), [`${scene.wiki.ip}:80`], "it serves on");
}

async function leaderEnds(scene: Scene): Promise<void> {
  const [leader, other] = await roles(scene);
  const before = await footprint(scene);
  const began = Date.now();
  leader.daemon!.signal("SIGTERM");
  assertLessOrEqual(await untilLeads(scene, other), 2_000 + SLACK_MS);
  scene.service.ports = [other.port];
  await scene.bed.waitFor("it has ended", () => !leader.daemon!.running);
  assertLessOrEqual(Date.now() - began, 10_000);
  assertEquals(leader.daemon!.exitCode, 0);
  await scene.bed.apply([endpoints(scene.blog.ip)]);
  await untilEnvoySays(scene, "hello from blog");
  await untilObserved(scene);
  assertEquals(await footprint(scene), before, "no new key and no new device");
}

async function apiServerGone(scene: Scene): Promise<void> {
  const { bed, blog, wiki } = scene;
  const stopped = scene.replicas.find(({ daemon }) => !daemon?.running);
  await stopped?.start();
  await bed.stopApiServer();
  const end = Date.now() + 60_000;
  while (Date.now() < end) {
    for (const replica of scene.replicas) {
      assertEquals(await replica.upstreams(), [`${blog.ip}:80`]);
      assert(await replica.isReady(), "stale is not unready");
    }
    await pause(500);
  }
  await bed.startApiServer();
  const back = Date.now();
  await bed.apply([endpoints(wiki.ip)]);
  await untilObserved(scene);
  assertLessOrEqual(Date.now() - back, 10_000 + SLACK_MS);
  for (const replica of scene.replicas) {
    await bed.waitFor(
      `${replica.name} knows it`,
      async () => (await replica.upstreams())[0] === `${wiki.ip}:80`,
    );
  }
  assertLessOrEqual(Date.now() - back, 10_000 + SLACK_MS);
}

Deno.test("two replicas on real parts: one acts, both serve Envoy Gateway, either may go", async (t) => {
  await using bed = await Testbed.start();
  const { server } = startTailscaleApi(bed);
  const service = new TestService(5005);
  const replicas = [new Replica(bed, "a", 1), new Replica(bed, "b", 2)];
  try {
    await install(bed);
    const host = (name: string) =>
      bed.startTailnetNode({ name, tags: ["tag:web"], text: `hello from ${name}` });
    const [wiki, blog] = [await host("wiki"), await host("blog")];
    await new OperatorProcess(bed).writeKubeconfig();
    for (const replica of replicas) await replica.start();
    service.ports = replicas.map(({ port }) => port);
    const scene: Scene = { bed, apiURL: server.url, replicas, service, wiki, blog };
    const step = async (name: string, fn: (scene: Scene) => Promise<void>) => {
      if (!await t.step(name, () => fn(scene))) throw new Error(`what follows needs: ${name}`);
    };
    await step("figure 16: one writes, and both answer alike", bothServe);
    await step("figure 15: kill -9 of the leader: the other acts within 17 s", leaderKilled);
    await step("figure 15: a leader that was paused wakes up and writes nothing", leaderPaused);
    await step(
      "figure 17: SIGTERM: the other leads within 2 s, exit code 0 within 10 s",
      leaderEnds,
    );
    await step("figure 7: the API server is gone for 60 s, hooks are answered", apiServerGone);
  } finally {
    await bed.daemons.get("envoy-gateway")?.stop();
    for (const { daemon } of replicas) await daemon?.stop();
    await service.close();
    await server.shutdown();
  }
});
