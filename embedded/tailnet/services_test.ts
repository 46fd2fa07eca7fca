import { assertEquals, assertObjectMatch } from "@std/assert";
import { type TestTailnet, withTailnet } from "./testing.ts";

const WEB = "tailnet/-/vip-services/svc:web";

function service(fields: Record<string, unknown> = {}) {
  return { name: "svc:web", ports: ["tcp:443"], tags: ["tag:web"], ...fields };
}

async function addrsOf({ call }: TestTailnet, path = WEB): Promise<string[]> {
  return ((await call("GET", path)).json as { addrs: string[] }).addrs;
}

Deno.test("a service gets two addresses, and both paths and an escaped colon lead to it", async () => {
  await withTailnet({}, async (t) => {
    assertEquals((await t.call("PUT", WEB, service())).status, 200);
    assertEquals(await addrsOf(t), ["100.101.0.1", "fd7a:115c:a1e0::6501:1"]);
    for (const path of ["services/svc:web", "vip-services/svc%3Aweb", "services/svc%3aweb"]) {
      assertEquals((await t.call("GET", `tailnet/-/${path}`)).status, 200);
    }
    const { json } = await t.call("GET", "tailnet/-/services");
    assertEquals((json as { vipServices: unknown[] }).vipServices.length, 1);
  });
});

Deno.test("annotations and comment are kept verbatim", async () => {
  await withTailnet({}, async ({ call }) => {
    const annotations = {
      "tailscale.com/owner-references": '{"ownerRefs":[{"operatorID":"nOp1CNTRL"}]}',
      "gateway.tailscale.com/schema-version": "v1",
    };
    await call("PUT", WEB, service({ annotations, comment: "managed" }));
    const { json } = await call("GET", WEB);
    assertObjectMatch(json as Record<string, unknown>, { annotations, comment: "managed" });
  });
});

Deno.test("an update has to send the addresses again, and replaces all else", async () => {
  await withTailnet({}, async (t) => {
    await t.call("PUT", WEB, service({ comment: "first" }));
    const addrs = await addrsOf(t);
    assertEquals((await t.call("PUT", WEB, service())).status, 400);
    assertEquals((await t.call("PUT", WEB, service({ addrs: [addrs[0]] }))).status, 400);
    assertEquals((await t.call("PUT", WEB, service({ addrs, ports: ["tcp:80"] }))).status, 200);
    const { json } = await t.call("GET", WEB);
    assertEquals(json, { ...service({ addrs, ports: ["tcp:80"] }) });
  });
});

Deno.test("one IPv4 address may be chosen, of the tailnet's range and free", async () => {
  await withTailnet({}, async (t) => {
    const { node } = t.net.addHost({ name: "api" });
    const chosen = ["100.99.1.2"];
    assertEquals((await t.call("PUT", WEB, service({ addrs: chosen }))).status, 200);
    assertEquals((await addrsOf(t))[0], "100.99.1.2");
    const other = (addrs: string[]) =>
      t.call("PUT", "tailnet/-/services/svc:b", service({ name: "svc:b", addrs }));
    const bad = [chosen, [node.addresses[0] ?? ""], ["10.0.0.1"], ["fd7a:115c:a1e0::1"], [
      "100.99.1.3",
      "fd7a:115c:a1e0::1",
    ]];
    for (const addrs of bad) assertEquals((await other(addrs)).status, 400);
  });
});

Deno.test("another name in the body renames the service and keeps its addresses", async () => {
  await withTailnet({}, async (t) => {
    await t.call("PUT", WEB, service());
    const addrs = await addrsOf(t);
    await t.call("PUT", WEB, service({ name: "svc:shop", addrs }));
    assertEquals((await t.call("GET", WEB)).status, 404);
    assertEquals(await addrsOf(t, "tailnet/-/services/svc:shop"), addrs);
    assertEquals(t.api.services().map(({ name }) => name), ["svc:shop"]);
    const taken = await t.call("PUT", WEB, service({ name: "svc:shop" }));
    assertEquals(taken.status, 400);
  });
});

Deno.test("a name that a device has is refused, to read and to write", async () => {
  await withTailnet({}, async ({ call, net }) => {
    net.addHost({ name: "web" });
    const refused = { status: 400, json: { message: "name exists but is not a service" } };
    assertEquals(await call("GET", WEB), refused);
    assertEquals(await call("PUT", WEB, service()), refused);
  });
});

Deno.test("bad names, ports and tags are refused with 400", async () => {
  await withTailnet({}, async ({ call }) => {
    const bad = [
      { ports: [] },
      { ports: ["udp:53"] },
      { ports: ["tcp:0"] },
      { ports: ["tcp:70000"] },
      { ports: ["tcp:80", "do-not-validate"] },
      { tags: ["tag:foreign"] },
      { tags: "tag:web" },
      { name: "web" },
    ];
    for (const fields of bad) {
      assertEquals((await call("PUT", WEB, service(fields))).status, 400, JSON.stringify(fields));
    }
    assertEquals((await call("PUT", "tailnet/-/services/svc:A", service())).status, 400);
    assertEquals((await call("PUT", WEB, service({ ports: ["do-not-validate"] }))).status, 200);
  });
});

Deno.test("a deleted service is gone; an empty list is 404 or empty, as set", async () => {
  await withTailnet({}, async ({ call }) => {
    assertEquals((await call("GET", "tailnet/-/vip-services")).status, 404);
    await call("PUT", WEB, service());
    assertEquals((await call("DELETE", WEB)).status, 200);
    assertEquals((await call("DELETE", WEB)).status, 404);
  });
  await withTailnet({ emptyServicesStatus: 200 }, async ({ call }) => {
    const { json } = await call("GET", "tailnet/-/vip-services");
    assertEquals(json, { vipServices: [] });
  });
});

Deno.test("two creations at once leave one pair of addresses", async () => {
  await withTailnet({}, async (t) => {
    const statuses = await Promise.all([1, 2].map(() => t.call("PUT", WEB, service())));
    assertEquals(statuses.map(({ status }) => status).sort(), [200, 400]);
    assertEquals(await addrsOf(t), ["100.101.0.1", "fd7a:115c:a1e0::6501:1"]);
  });
});

Deno.test("hosts are approved by policy or by hand, and only tagged nodes are hosts", async () => {
  const serviceApprovers = { "tag:web": ["tag:auto"] };
  await withTailnet({ serviceApprovers }, async ({ call, net }) => {
    await call("PUT", WEB, service());
    const auto = net.addHost({ name: "a", tags: ["tag:auto"] }).node.nodeId;
    const hand = net.addHost({ name: "b", tags: ["tag:k8s"] }).node.nodeId;
    const untagged = net.addHost({ name: "c" }).node.nodeId;
    for (const id of [auto, hand, untagged]) net.advertise(id, ["svc:web"]);
    const base = "tailnet/-/services/svc:web";
    const levels = async () => {
      const { json } = await call("GET", `${base}/devices`);
      const { hosts } = json as { hosts: { stableNodeID: string; approvalLevel: string }[] };
      return hosts.map((host) => [host.stableNodeID, host.approvalLevel]);
    };
    assertEquals(await levels(), [[auto, "approved:auto"], [hand, "not-approved"]]);
    const approval = `${base}/device/${hand}/approved`;
    assertEquals((await call("POST", approval, { approved: true })).status, 200);
    assertEquals((await call("GET", approval)).json, { approved: true, autoApproved: false });
    assertEquals(await levels(), [[auto, "approved:auto"], [hand, "approved:manual"]]);
    assertEquals((await call("POST", approval, { approved: "yes" })).status, 400);
    assertEquals(
      (await call("POST", `${base}/device/nobody/approved`, { approved: true })).status,
      404,
    );
  });
});
