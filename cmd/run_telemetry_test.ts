import { assert, assertEquals } from "@std/assert";
import { TestEnvoyGateway } from "../operator/testing/envoy.ts";
import { everything, OAUTH_CLIENT, tailnet } from "../operator/testing/objects.ts";
import { LocalApis } from "./testing/local_apis.ts";
import { OtlpCollector } from "./testing/otlp.ts";

const TOKEN = "kubeconfig-token-canary";

Deno.test("M227 traces show each reconcile, action and hook call, and the requests that they made", async () => {
  await using collector = new OtlpCollector();
  await using apis = new LocalApis(OAUTH_CLIENT, TOKEN);
  await apis.apply(...everything(), tailnet({ apiURL: apis.tailscaleURL }));
  const { program, grpc } = apis.run(collector.env);
  try {
    await program.wrote('"msg":"ready"');
    const envoyGateway = new TestEnvoyGateway(grpc);
    await envoyGateway.translate(["httproute/apps/wiki/rule/0"]);
    envoyGateway.close();

    const reconcile = await collector.span(
      "of wiki",
      ({ name, attributes }) => name === "reconcile endpoints" && attributes["key"] === "apps/wiki",
    );
    assertEquals(reconcile.attributes["controller"], "endpoints");
    assert(["success", "requeue_after"].includes(String(reconcile.attributes["result"])));
    const hook = await collector.span("of the hook", ({ name }) => name.startsWith("hook "));
    assertEquals(hook.attributes["hook"], "PostTranslateModify");
    const asked = (part: string) =>
      collector.span(part, ({ attributes }) => String(attributes["url.full"]).includes(part));
    const patch = await asked("/namespaces/apps/statefulsets/wiki-egress");
    // A span is sent when it ends, so those around it come later.
    for (const name of ["action apply", "reconcile endpoints"]) {
      await collector.span(
        `${name} around it`,
        (span) => span.name === name && collector.above(patch).includes(span),
      );
    }
    await asked(`${apis.tailscaleURL}/api/v2/`);
  } finally {
    assertEquals(await program.end("SIGTERM"), 0, program.output);
  }
  const keys = (await apis.tailnet.keys()).map(({ key }) => key);
  const said = collector.bodies.join("\n") + program.output;
  for (const canary of [OAUTH_CLIENT.clientSecret, TOKEN, ...keys]) {
    assert(!said.includes(canary) && !said.includes(btoa(canary)), canary.slice(0, 12));
  }
});

Deno.test("M227 without OTEL_DENO nothing is sent", async () => {
  await using collector = new OtlpCollector();
  await using apis = new LocalApis(OAUTH_CLIENT, TOKEN);
  const { OTEL_DENO: _, ...env } = collector.env;
  const { program } = apis.run(env);
  await program.wrote('"msg":"ready"');
  assertEquals(await program.end("SIGTERM"), 0, program.output);
  assertEquals(collector.bodies, []);
});
