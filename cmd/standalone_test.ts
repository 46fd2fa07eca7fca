import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { freePort, RunningProgram, runProgram } from "./testing/program.ts";

Deno.test("D6 standalone brings the quickstart to Ready, serves, and ends cleanly on Ctrl-C", async () => {
  const [grpc, http, api] = [freePort(), freePort(), freePort()];
  const program = new RunningProgram([
    "standalone",
    `--extension-port=${grpc}`,
    `--http-port=${http}`,
    `--api-port=${api}`,
  ]);
  try {
    await program.wrote("Ctrl-C ends it.");
    const { output } = program;
    assertStringIncludes(output, "TailscaleEndpoints quickstart/intranet: Ready=True Ready");
    assertStringIncludes(output, "name: httproute/quickstart/wiki/rule/0");
    assertStringIncludes(output, "address: 100.64.0.10");
    assertStringIncludes(output, "cluster: httproute/quickstart/wiki/rule/0");
    for (const path of ["/ready", "/health", "/healthz", "/metrics"]) {
      const response = await fetch(`http://127.0.0.1:${http}${path}`);
      assertEquals(response.status, 200, path);
      assert((await response.text()).length > 0);
    }
    const namespaces = await fetch(`http://127.0.0.1:${api}/api/v1/namespaces/quickstart`);
    assertEquals((await namespaces.json()).status, { phase: "Active" });
  } finally {
    assertEquals(await program.end("SIGINT"), 0, program.output);
  }
  assertStringIncludes(program.output, "stopped");
});

Deno.test("standalone names the port that is taken", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  try {
    for (const taken of ["http-port", "api-port"]) {
      const ports = { "http-port": freePort(), "api-port": freePort(), [taken]: port };
      const flags = Object.entries(ports).map(([name, value]) => `--${name}=${value}`);
      const { code, stderr } = await runProgram(["standalone", ...flags]);
      assertEquals(code, 1);
      assertStringIncludes(stderr, `tailscale-gateway: cannot listen on 127.0.0.1:${port}`);
    }
  } finally {
    listener.close();
  }
});

Deno.test("standalone refuses an object that the API server would refuse, and says why", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const manifest = {
      apiVersion: "gateway.tailscale.com/v1alpha1",
      kind: "TailscaleEndpoints",
      metadata: { name: "bad", namespace: "default" },
      spec: { tailnet: "corp", endpoints: [{ name: "a", tailscaleIP: "127.0.0.1", port: 80 }] },
    };
    await Deno.writeTextFile(`${folder}/bad.json`, JSON.stringify(manifest));
    const { code, stderr } = await runProgram(["standalone", folder]);
    assertEquals(code, 1);
    assertStringIncludes(stderr, "bad.json: TailscaleEndpoints bad is refused");
    assertStringIncludes(stderr, "endpoints[0].tailscaleIP");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
