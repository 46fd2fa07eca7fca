import { assertEquals } from "@std/assert";
import { HTTP_ROUTE, SECRET, SERVICE } from "../api/resources.ts";
import { TailscaleEndpoints } from "../api/tailscale_endpoints.ts";
import { indexesOf, parentValue } from "./indexes.ts";
import { endpoints, route, secret } from "./testing/builders.ts";

const LABELS = {
  "gateway.tailscale.com/parent-kind": "TailscaleEndpoints",
  "gateway.tailscale.com/parent-namespace": "apps",
  "gateway.tailscale.com/parent-name": "intranet",
  "gateway.tailscale.com/tailnet": "corp",
};

Deno.test("M95 what was made for an object is found by it, and by its tailnet", () => {
  const made = secret("s", {}, { labels: LABELS });
  const { parent, tailnet } = indexesOf(SECRET);
  assertEquals(parent?.(made), [parentValue("TailscaleEndpoints", "apps", "intranet")]);
  assertEquals(tailnet?.(made), ["corp"]);
  assertEquals(indexesOf(SERVICE).parent?.(made), ["TailscaleEndpoints/apps/intranet"]);
});

Deno.test("an object that bears no label of ours, or half of them, is found by nothing", () => {
  const half = secret("s", {}, { labels: { "gateway.tailscale.com/parent-kind": "X" } });
  for (const object of [secret("s", {}), half]) {
    assertEquals(indexesOf(SECRET).parent?.(object), []);
    assertEquals(indexesOf(SECRET).tailnet?.(object), []);
  }
});

Deno.test("M12 objects are found by the tailnet that they name", () => {
  assertEquals(indexesOf(TailscaleEndpoints.resource).tailnet?.(endpoints()), ["corp"]);
});

Deno.test("M188 routes are found by the objects that they name, and by their Gateways", () => {
  const { backend, gateway } = indexesOf(HTTP_ROUTE);
  const web = route("web", [
    {},
    { name: "rpc", namespace: "shop" },
    { kind: "TailscaleServices", name: "x" },
    { group: "", kind: "Service", name: "y" },
  ]);
  assertEquals(backend?.(web), [
    "TailscaleEndpoints/apps/intranet",
    "TailscaleEndpoints/shop/rpc",
    "TailscaleServices/apps/x",
  ]);
  assertEquals(gateway?.(web), ["infra/eg"]);
  assertEquals(backend?.({ ...web, spec: {} } as typeof web), []);
});
