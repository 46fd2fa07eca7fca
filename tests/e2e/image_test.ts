/**
 * The image, where there is no container runtime: its root, user and entry point as the
 * Dockerfile has them, on what distroless cc holds, read-only.
 */
import { assert, assertEquals, assertLessOrEqual, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import denoJson from "../../deno.json" with { type: "json" };
import { run, tryRun } from "../testbed/command.ts";
import { KUBERNETES_IP } from "../testbed/addresses.ts";
import { Testbed } from "../testbed/testbed.ts";
import { containerCommand, makeRoot } from "./distroless.ts";
import { type ImageStage, stagesOf } from "./dockerfile.ts";
import { conditionOf, egressManifests, endpoints, NAMESPACE } from "./egress_manifests.ts";
import { extensionConfigYaml, install, startTailscaleApi } from "./operator.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BASE = "gcr.io/distroless/cc-debian12:nonroot";
/** Of Debian 12: the newest symbols that a program for it may want. */
const GLIBC = 36;

const HTTP = "127.0.0.1:18080";

interface Scene {
  readonly bed: Testbed;
  readonly root: string;
  readonly stage: ImageStage;
}

/** The stage of what `deno task build` made: the executable where it could, else the bundle. */
async function stageOfWhatWasMade(): Promise<ImageStage> {
  const stages = stagesOf(await Deno.readTextFile(join(ROOT, "Dockerfile")));
  const [bundle, executable] = stages.filter(({ base }) => base === BASE);
  assert(bundle && executable);
  for (const { user } of [bundle, executable]) assertEquals(user, "65532:65532");
  const made = await Deno.stat(join(ROOT, "dist", "tailscale-gateway")).then(
    () => true,
    () => false,
  );
  return made ? executable : bundle;
}

async function makeImage(root: string, stage: ImageStage): Promise<void> {
  const dist = (name: string) => [`/src/dist/${name}`, join(ROOT, "dist", name)];
  const files = ["tailscale-gateway", "tailscale-gateway.js", "tailscale-gateway.cdx.json"];
  const build = Object.fromEntries([["/deno", Deno.execPath()], ...files.map(dist)]);
  await makeRoot(root, stage, { build, context: ROOT });
}

async function tellsItsVersion({ root, stage }: Scene): Promise<void> {
  const printed = await run(containerCommand({ root, stage, args: ["version"] }));
  assertEquals(printed.trim(), `tailscale-gateway ${denoJson.version}`);
}

/** What runs on this machine's C library must run on that of the base image. */
async function wantsNoNewerLibrary({ root, stage }: Scene): Promise<void> {
  const program = root + stage.entryPoint[0];
  const symbols = await run(["grep", "-ao", "GLIBC_2\\.[0-9]*", program]);
  const minors = [...symbols.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor));
  assertLessOrEqual(Math.max(...minors), GLIBC);
}

async function hasNothingElse({ root, stage }: Scene): Promise<void> {
  for (const shell of ["/bin/sh", "/usr/bin/env"]) {
    const { code } = await tryRun(containerCommand({ root, stage, args: [], command: [shell] }));
    assert(code !== 0, shell);
  }
}

/** With all that Deno can allow, so that it is the container that refuses. */
async function writesNowhere({ root, stage }: Scene): Promise<void> {
  const script = `
    const tried = {};
    for (const path of ["/app/x", "/tmp/x", "/home/nonroot/x", "/etc/passwd", "/x"]) {
      try { Deno.writeTextFileSync(path, "") } catch (error) { tried[path] = error.name }
    }
    const { uid, gid } = { uid: Deno.uid(), gid: Deno.gid() };
    const status = Deno.readTextFileSync("/proc/self/status");
    const capabilities = /^CapEff:\\s*(\\w+)/m.exec(status)[1];
    console.log(JSON.stringify({ uid, gid, capabilities, tried }));`;
  const command = ["/deno", "eval", "--no-lock", "--no-config", script];
  if (stage.entryPoint[0] !== "/deno") return; // nothing in it can run a script
  const said = JSON.parse(await run(containerCommand({ root, stage, args: [], command })));
  assertEquals([said.uid, said.gid], [65532, 65532]);
  assertEquals(Number(said.capabilities), 0);
  assertEquals(Object.keys(said.tried).length, 5, JSON.stringify(said.tried));
}

interface Deployment {
  readonly kind: string;
  readonly spec: {
    template: {
      spec: { containers: { args: string[]; env: { name: string; value?: string }[] }[] };
    };
  };
}

/** Starts it as \`deploy/install.yaml\` says, with the account that a kubelet would give it. */
async function start({ bed, root, stage }: Scene): Promise<void> {
  const namespace = "tailscale-gateway-system";
  const secrets = join(bed.stateDir, "operator-secrets");
  const account = join(secrets, "kubernetes.io", "serviceaccount");
  await Deno.mkdir(account, { recursive: true });
  const token = await bed.kubectl("-n", namespace, "create", "token", "tailscale-gateway");
  await Deno.writeTextFile(join(account, "token"), token.trim());
  await Deno.writeTextFile(join(account, "namespace"), namespace);
  await Deno.copyFile(join(bed.stateDir, "kube", "ca.crt"), join(account, "ca.crt"));
  const objects = parseAllDocuments(await Deno.readTextFile(join(ROOT, "deploy", "install.yaml")))
    .map((document) => document.toJS() as Deployment | null);
  const container = objects.find((object) => object?.kind === "Deployment")
    ?.spec.template.spec.containers[0];
  assert(container);
  const fields: Record<string, string> = { POD_NAME: "one", OPERATOR_NAMESPACE: namespace };
  const env = Object.fromEntries(
    container.env.map(({ name, value }) => [name, value ?? fields[name] ?? ""]),
  );
  const service = { KUBERNETES_SERVICE_HOST: KUBERNETES_IP, KUBERNETES_SERVICE_PORT: "443" };
  // A pod has ports of its own; here Envoy Gateway listens on 8080 too.
  const args = [...container.args, `--http-address=${HTTP}`];
  const options = { root, stage, secrets, args, env: { ...env, ...service } };
  const daemon = bed.daemons.start("operator", containerCommand(options));
  await daemon.ready(async () => (await fetch(`http://${HTTP}/ready`)).ok, {
    timeoutMs: 60_000,
  });
}

async function carriesARequest(scene: Scene, apiURL: string): Promise<void> {
  const { bed } = scene;
  const wiki = await bed.startTailnetNode({ name: "wiki", tags: ["tag:web"], text: "hello" });
  await bed.startEnvoyGateway({ extensionConfigYaml: extensionConfigYaml() });
  await bed.apply(egressManifests({ controlURL: bed.tailnet.controlURL, apiURL }));
  await bed.apply([endpoints(wiki.ip)]);
  await bed.waitFor("the TailscaleEndpoints Ready", async () => {
    const object = await bed.get("tailscaleendpoints", "intranet", NAMESPACE);
    const ready = conditionOf(object, "Ready");
    if (ready?.status === "True") return true;
    throw new Error(`${ready?.reason}: ${ready?.message}`);
  }, { timeoutMs: 90_000 });
  const selector = "gateway.envoyproxy.io/owning-gateway-name=edge";
  const [service] = await bed.list("services", "envoy-gateway-system", selector);
  const url = `http://${service.spec.clusterIP}/`;
  const curl = ["curl", "-sSf", "-m", "3", "-H", "Host: wiki.example.com", url];
  const answer = await bed.waitFor("Envoy answers", () => bed.exec(curl));
  assertEquals(answer.trim(), "hello");
}

Deno.test("D2 M245 the image runs on distroless, as nobody, read-only, with the final flags, and carries a request", async (t) => {
  await using bed = await Testbed.start();
  const { server } = startTailscaleApi(bed);
  try {
    const root = join(bed.stateDir, "image");
    const stage = await stageOfWhatWasMade();
    await makeImage(root, stage);
    const scene: Scene = { bed, root, stage };
    await t.step("D1 it tells the program's own version", () => tellsItsVersion(scene));
    await t.step("it wants no newer C library than its base has", () => wantsNoNewerLibrary(scene));
    await t.step("there is no shell in it", () => hasNothingElse(scene));
    await t.step("it can write nowhere, and has no capability", () => writesNowhere(scene));
    await install(bed);
    await t.step("D3 installed as deploy/install.yaml says, it is ready", () => start(scene));
    await t.step(
      "an HTTPRoute through it reaches a tailnet host",
      () => carriesARequest(scene, server.url),
    );
    await t.step("it ends by itself at SIGTERM", async () => {
      const daemon = bed.daemons.get("operator");
      assert(daemon);
      await daemon.stop(20_000);
      assertMatch(daemon.log(), /"msg":"stopped"/);
      assert(!/NotCapable|Requires \w+ access/.test(daemon.log()), daemon.log());
    });
  } finally {
    await server.shutdown();
  }
});
