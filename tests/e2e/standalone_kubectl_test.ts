/** `main.ts standalone` answers the kubectl of people. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { freePort, RunningProgram } from "../../cmd/testing/program.ts";
import { run, tryRun } from "../testbed/command.ts";
import { program } from "../testbed/paths.ts";
import { waitFor } from "../testbed/wait.ts";

const MANIFEST = `
apiVersion: gateway.tailscale.com/v1alpha1
kind: TailscaleEndpoints
metadata: {name: second, namespace: mine}
spec:
  tailnet: corp
  proxy: {connectionType: egress, replicas: 1}
  endpoints: [{name: wiki, tailscaleIP: 100.64.0.77, port: 8080}]
`;

class Kubectl {
  readonly #flags: readonly string[];

  constructor(port: number, cache: string) {
    const server = `--server=http://127.0.0.1:${port}`;
    this.#flags = ["--kubeconfig=/dev/null", server, `--cache-dir=${cache}`];
  }

  command(...args: string[]): string[] {
    return [program("kubectl"), ...this.#flags, ...args];
  }

  run(args: string[], stdin?: string): Promise<string> {
    return run(this.command(...args), stdin === undefined ? {} : { stdin });
  }
}

Deno.test("D6 D7 kubectl gets, watches, describes, creates, applies and deletes on the standalone cluster", async (t) => {
  const ports = { extension: freePort(), http: freePort(), api: freePort() };
  const flags = Object.entries(ports).map(([name, port]) => `--${name}-port=${port}`);
  const standalone = new RunningProgram(["standalone", ...flags]);
  const cache = await Deno.makeTempDir();
  const kubectl = new Kubectl(ports.api, cache);
  try {
    await standalone.wrote("Ctrl-C ends it.");
    await t.step("get shows the columns of our kinds, and of others", async () => {
      const table = await kubectl.run(["get", "tailscale", "-A"]);
      assertMatch(table, /NAME +READY +REASON +TAILNET +DEVICES +AGE\n\S+\/corp +True +Ready /);
      assertMatch(table, /quickstart +\S+\/intranet +True +Ready +corp +2 +2 +\d+s/);
      const pods = await kubectl.run(["get", "all", "-n", "quickstart"]);
      assertMatch(pods, /pod\/intranet-egress-0 +True +Running /);
    });
    await t.step("describe tells of the object's Events", async () => {
      const text = await kubectl.run(["describe", "tsep", "intranet", "-n", "quickstart"]);
      assertMatch(text, /Events:[^]*Normal +Ready .*tailscale-gateway/);
    });
    await t.step("create, apply and watch", () => createAndWatch(kubectl));
    await t.step("delete waits until all is removed", async () => {
      await kubectl.run(["delete", "tsep", "second", "-n", "mine"]);
      const { code, stderr } = await tryRun(
        kubectl.command("get", "tsep", "second", "-n", "mine"),
      );
      assertEquals(code, 1);
      assertStringIncludes(stderr, "NotFound");
    });
  } finally {
    await standalone.end("SIGINT");
    await Deno.remove(cache, { recursive: true });
  }
});

async function createAndWatch(kubectl: Kubectl): Promise<void> {
  assertStringIncludes(await kubectl.run(["create", "namespace", "mine"]), "created");
  const [name = "", ...args] = kubectl.command("get", "tsep", "-A", "-w");
  const watch = new Deno.Command(name, { args, stdout: "piped" }).spawn();
  let seen = "";
  const read = (async () => {
    for await (const text of watch.stdout.pipeThrough(new TextDecoderStream())) seen += text;
  })();
  try {
    await waitFor("the watch to begin", () => seen.includes("intranet"));
    await kubectl.run(["apply", "--validate=false", "-f", "-"], MANIFEST);
    await kubectl.run(["apply", "--validate=false", "-f", "-"], MANIFEST);
    const generation = ["-o", "jsonpath={.metadata.generation}"];
    assertEquals(await kubectl.run(["get", "tsep", "second", "-n", "mine", ...generation]), "1");
    await waitFor("the watch to show it", () => /mine +second +True +Ready/.test(seen));
    assert(seen.startsWith("NAMESPACE"), "one header, from the first row on");
  } finally {
    watch.kill("SIGTERM");
    await watch.status;
    await read;
  }
}
