import { assert, assertEquals, assertFalse } from "@std/assert";
import { withTailnet } from "./testing.ts";

type Devices = { devices: Record<string, unknown>[] };

async function names(
  t: { call(method: string, path: string): Promise<{ json: unknown }> },
  query = "",
) {
  const { json } = await t.call("GET", `tailnet/-/devices${query}`);
  return (json as Devices).devices.map((device) => device.hostname);
}

Deno.test("a device has lastSeen only while it is not connected", async () => {
  await withTailnet({}, async ({ call, net }) => {
    const { node } = net.addHost({ name: "api", tags: ["tag:api"] });
    const read = async () =>
      (await call("GET", `device/${node.nodeId}`)).json as Record<string, unknown>;
    const online = await read();
    assertEquals(online.connectedToControl, true);
    assertFalse("lastSeen" in online);
    net.disconnect(node.nodeId);
    const offline = await read();
    assertEquals(offline.connectedToControl, false);
    assert("lastSeen" in offline);
    assertFalse("online" in offline);
  });
});

Deno.test("a device is found and deleted by either of its ids", async () => {
  await withTailnet({}, async ({ call, net }) => {
    const a = net.addHost({ name: "a" }).node;
    const b = net.addHost({ name: "b" }).node;
    assertEquals((await call("GET", `device/${a.id}`)).status, 200);
    assertEquals((await call("DELETE", `device/${a.id}`)).status, 200);
    assertEquals((await call("DELETE", `device/${a.id}`)).status, 404);
    assertEquals((await call("DELETE", `device/${b.nodeId}`)).status, 200);
    assertEquals(await net.nodes(), []);
  });
});

Deno.test("a shared-in device is not deleted: 501", async () => {
  await withTailnet({}, async ({ call, net }) => {
    const { node } = net.addHost({ name: "x.other.ts.net", external: true });
    assertEquals(await call("DELETE", `device/${node.nodeId}`), {
      status: 501,
      json: { message: "cannot delete devices outside of your tailnet" },
    });
    assertEquals((await net.nodes()).length, 1);
  });
});

Deno.test("filters narrow the list; values of one field are alternatives", async () => {
  await withTailnet({}, async (t) => {
    t.net.addHost({ name: "a", tags: ["tag:x"] });
    t.net.addHost({ name: "b", tags: ["tag:x", "tag:y"] });
    t.net.addHost({ name: "c" });
    assertEquals(await names(t), ["a", "b", "c"]);
    assertEquals(await names(t, "?fields=all"), ["a", "b", "c"]);
    assertEquals(await names(t, "?tags=tag:x"), ["a", "b"]);
    assertEquals(await names(t, "?tags=tag:y&tags=tag:z"), ["b"]);
    assertEquals(await names(t, "?tags=tag:x&hostname=a"), ["a"]);
    assertEquals(await names(t, "?isEphemeral=true"), []);
  });
});
