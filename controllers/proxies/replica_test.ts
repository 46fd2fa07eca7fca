import { assertEquals } from "@std/assert";
import { secret } from "../testing/builders.ts";
import { nodeIdsOf } from "./replica.ts";

const profile = (nodeId: unknown) => ({
  "_current-profile": "profile-abcd",
  "profile-abcd": JSON.stringify({ Config: { NodeID: nodeId } }),
});
const ids = (values: Record<string, string>) => nodeIdsOf(secret("s", values));

Deno.test("M94 a replica's device is known from containerboot, or from tailscaled's profile", () => {
  assertEquals(ids({ device_id: "n1" }), ["n1"]);
  assertEquals(ids(profile("n1")), ["n1"]);
  assertEquals(ids({ device_id: "n1", ...profile("n1") }), ["n1"]);
});

Deno.test("a device that only one of the two knows is not forgotten", () => {
  assertEquals(ids({ device_id: "n1", ...profile("n2") }), ["n1", "n2"]);
});

Deno.test("a replica that has not logged in, or whose state is unreadable, has no device", () => {
  assertEquals(nodeIdsOf(undefined), []);
  const odd = [
    {},
    { device_id: "" },
    { "_current-profile": "profile-gone" },
    { "_current-profile": "p", p: "{" },
    { "_current-profile": "p", p: "null" },
    { "_current-profile": "p", p: '{"Config":null}' },
    profile(7),
    profile(""),
  ];
  for (const values of odd) assertEquals(ids(values), [], JSON.stringify(values));
  assertEquals(nodeIdsOf({ ...secret("s", {}), data: { device_id: "%%" } }), []);
});
