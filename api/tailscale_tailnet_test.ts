import { assertEquals } from "@std/assert";
import { resolveTailnetSpec, TailscaleTailnet } from "./tailscale_tailnet.ts";

const tailnet = TailscaleTailnet.create({ name: "corp" }, { oauthSecretName: "oauth" });

Deno.test("M4 resolveTailnetSpec() looks for the Secret in the operator's namespace by default", () => {
  const { oauthSecretNamespace } = resolveTailnetSpec(tailnet.spec, "tailscale");
  assertEquals(oauthSecretNamespace, "tailscale");
  const spec = { ...tailnet.spec, oauthSecretNamespace: "other" };
  assertEquals(resolveTailnetSpec(spec, "tailscale").oauthSecretNamespace, "other");
});

Deno.test("resolveTailnetSpec() gives empty lists of tags where there are none", () => {
  const { tags, allowedTags } = resolveTailnetSpec(tailnet.spec, "tailscale");
  assertEquals([tags, allowedTags], [[], []]);
});
