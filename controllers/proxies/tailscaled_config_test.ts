import { assertEquals, assertNotEquals } from "@std/assert";
import { authKeyIn, configHash, tailscaledConfig } from "./tailscaled_config.ts";
import { proxySet } from "./testing.ts";

Deno.test("M86 the file of an egress proxy is spelled as tailscaled reads it, without AdvertiseServices", () => {
  assertEquals(
    JSON.stringify(tailscaledConfig(proxySet(), 1, "tskey-auth-x")),
    '{"Version":"alpha0","Locked":false,"ServerURL":"https://controlplane.tailscale.com",' +
      '"AuthKey":"tskey-auth-x","Hostname":"intranet-egress-1","acceptDNS":false,' +
      '"acceptRoutes":true}',
  );
});

Deno.test("without a key there is no AuthKey, not even an empty one", () => {
  assertEquals("AuthKey" in tailscaledConfig(proxySet(), 0), false);
});

Deno.test("M86 the file of an ingress proxy advertises nothing at first", () => {
  const set = proxySet({ connectionType: "ingress" });
  assertEquals(tailscaledConfig(set, 0).AdvertiseServices, []);
});

Deno.test("a hostname prefix names the device by direction and index", () => {
  const config = tailscaledConfig(proxySet({ hostnamePrefix: "edge" }), 1);
  assertEquals(config.Hostname, "edge-egress-1");
});

Deno.test("the hash of a configuration does not move with the key, and does with all else", () => {
  const hash = configHash(tailscaledConfig(proxySet(), 0));
  assertEquals(configHash(tailscaledConfig(proxySet(), 0, "tskey-auth-x")), hash);
  for (
    const change of [{ acceptRoutes: false }, { loginURL: "https://x" }, { hostnamePrefix: "y" }]
  ) {
    assertNotEquals(configHash(tailscaledConfig(proxySet(change), 0)), hash);
  }
});

Deno.test("the key is read back from a file, and a file that was tampered with has none", () => {
  assertEquals(authKeyIn('{"AuthKey":"tskey-auth-x"}'), "tskey-auth-x");
  const odd = [undefined, "", "{", "null", "7", "[]", '"text"', '{"AuthKey":7}', '{"AuthKey":""}'];
  for (const file of odd) assertEquals(authKeyIn(file), undefined, file);
});
