import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { KubeConfigError } from "./errors.ts";
import { mayNotRun } from "./exec_plugin.ts";
import { loadKubeconfig } from "./kubeconfig.ts";
import { Folder, kubeconfig } from "./testing/kubeconfig.ts";
import { certificate, TlsServer } from "./testing/tls.ts";
import { ScriptedServer } from "./testing/scripted.ts";
import { createTransport } from "./transport.ts";

const API = "client.authentication.k8s.io/v1";
const NOW = Date.parse("2026-03-01T12:00:00Z");

/** Prints what lies in `answer`, and notes each run and what it was told. */
const PLUGIN = `#!/bin/sh
cd "$(dirname "$0")"
echo run >> runs
printf '%s %s %s' "$1" "$FLAVOUR" "$KUBERNETES_EXEC_INFO" > told
cat answer
`;

/** A kubeconfig beside a plugin. */
class Rig implements AsyncDisposable {
  readonly clock = new FakeClock(NOW);

  private constructor(readonly folder: Folder) {}

  static async with(
    status: Record<string, unknown> | string,
    { plugin = PLUGIN, exec = {}, cluster = {} } = {},
  ): Promise<Rig> {
    const user = { exec: { apiVersion: API, command: "./plugin", ...exec } };
    const folder = await Folder.with({ config: kubeconfig(user, cluster), plugin });
    await Deno.chmod(`${folder.path}/plugin`, 0o755);
    const rig = new Rig(folder);
    await rig.answer(status);
    return rig;
  }

  /** What the plugin prints from now on. */
  async answer(status: Record<string, unknown> | string): Promise<void> {
    const credential = { apiVersion: API, kind: "ExecCredential", status };
    const text = typeof status === "string" ? status : JSON.stringify(credential);
    await Deno.writeTextFile(`${this.folder.path}/answer`, text);
  }

  load() {
    return loadKubeconfig({ path: `${this.folder.path}/config`, clock: this.clock });
  }

  async runs(): Promise<number> {
    return (await this.read("runs")).trim().split("\n").length;
  }

  read(name: string): Promise<string> {
    return Deno.readTextFile(`${this.folder.path}/${name}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.folder[Symbol.asyncDispose]();
  }
}

Deno.test("an exec plugin's token is used, and renewed before it expires", async () => {
  await using rig = await Rig.with({ token: "one", expirationTimestamp: "2026-03-01T13:00:00Z" });
  const config = await rig.load();
  assertEquals([await config.token?.(), await config.token?.(), await rig.runs()], [
    "one",
    "one",
    1,
  ]);
  await rig.answer({ token: "two", expirationTimestamp: "2026-03-01T14:00:00Z" });
  rig.clock.advance(59 * 60_000);
  assertEquals([await config.token?.(), await rig.runs()], ["two", 2]);
});

Deno.test("an exec plugin gets its arguments, its environment and what it is told of the cluster", async () => {
  const exec = {
    args: ["token"],
    env: [{ name: "FLAVOUR", value: "sweet" }],
    provideClusterInfo: true,
  };
  await using rig = await Rig.with({ token: "t" }, { exec });
  await rig.load();
  const [argument, flavour, ...info] = (await rig.read("told")).split(" ");
  assertEquals([argument, flavour], ["token", "sweet"]);
  const { kind, spec } = JSON.parse(info.join(" "));
  const server = "https://127.0.0.1:6443";
  assertEquals([kind, spec], ["ExecCredential", { interactive: false, cluster: { server } }]);
});

Deno.test("a token that the API server refuses is renewed by the request that finds out", async () => {
  let good = "one";
  await using server = new ScriptedServer((request) => {
    const known = request.headers.get("authorization") === `Bearer ${good}`;
    return Response.json({}, { status: known ? 200 : 401 });
  });
  await using rig = await Rig.with({ token: "one" }, { cluster: { server: server.url } });
  const transport = createTransport(await rig.load());
  assertEquals((await transport.request("/version")).status, 200);
  good = "two";
  await rig.answer({ token: "two" });
  rig.clock.advance(10_000);
  const answers = Array.from({ length: 10 }, () => transport.request("/version"));
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assertEquals([new Set(statuses), await rig.runs()], [new Set([200]), 2]);
  transport.close();
});

Deno.test("a certificate of an exec plugin is shown, and renewed when it is refused", async () => {
  await using server = new TlsServer();
  const identity = (name: string) => ({
    clientCertificateData: certificate(`${name}.crt`),
    clientKeyData: certificate(`${name}.key`),
  });
  const data = { "certificate-authority-data": btoa(certificate("ca.crt")) };
  const cluster = { server: await server.url, ...data };
  await using rig = await Rig.with(identity("client"), { cluster });
  const transport = createTransport(await rig.load());
  assertEquals((await transport.request("/x")).status, 200);
  server.refused = "operator";
  await rig.answer(identity("other"));
  rig.clock.advance(10_000);
  assertEquals((await transport.request("/x")).status, 200);
  transport.close();
});

for (
  const [what, status, options, message] of [
    ["that fails", "", { plugin: "#!/bin/sh\necho 'log in first' >&2\nexit 1\n" }, "log in first"],
    ["that prints no JSON", "canary", {}, "printed no ExecCredential"],
    ["that prints something else", "{}", {}, "printed no ExecCredential"],
    ["that prints an empty credential", {}, {}, "printed neither token nor certificate"],
    [
      "that is not there",
      {},
      { exec: { command: "./gone", installHint: "Get it." } },
      "install it, or check the PATH. Get it.",
    ],
  ] as const
) {
  Deno.test(`an exec plugin ${what} is a KubeConfigError that says so in one line`, async () => {
    await using rig = await Rig.with(status, options);
    const error = await assertRejects(() => rig.load(), KubeConfigError);
    assertStringIncludes(error.message, message);
    assertStringIncludes(error.message, `${rig.folder.path}/config, "u": the exec plugin`);
    assert(!error.message.includes("\n"), error.message);
    assert(!`${error.message}${error.cause}`.includes("canary"), "what it printed may be a secret");
  });
}

/** Loads a kubeconfig in a Deno of its own, with these permissions. */
async function loadWith(config: string, flags: readonly string[]): Promise<string> {
  const module = new URL("./kubeconfig.ts", import.meta.url).href;
  const script = `
    import { loadKubeconfig } from "${module}";
    const load = loadKubeconfig({ path: ${JSON.stringify(config)} });
    console.log(await load.then((c) => c.token?.(), (e) => e.name + ": " + e.message));`;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, script);
  const root = new URL("../deno.json", import.meta.url).pathname;
  const args = [
    "run",
    "--no-prompt",
    "--no-check",
    "--config",
    root,
    "--allow-read",
    ...flags,
    file,
  ];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  await Deno.remove(file);
  return new TextDecoder().decode(stdout).trim() || new TextDecoder().decode(stderr);
}

Deno.test("without permission to run the plugin one line says which flag gives it", async () => {
  await using rig = await Rig.with({ token: "one" });
  const config = `${rig.folder.path}/config`;
  const command = `${rig.folder.path}/./plugin`;
  const said = await loadWith(config, ["--allow-env"]);
  assertEquals(said.split("\n").length, 1, said);
  assertStringIncludes(said, `KubeConfigError: ${config}`);
  assertStringIncludes(said, `add --allow-run=${command} to deno run`);
  assertEquals(await loadWith(config, ["--allow-env", `--allow-run=${command}`]), "one");
});

Deno.test("the executable says that it runs no plugin, and what does", () => {
  const said = mayNotRun("aws", true);
  assertStringIncludes(said, "can't be run by this executable");
  assertStringIncludes(said, "deno run --allow-run=aws");
});
