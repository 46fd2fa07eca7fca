import {
  assert,
  assertEquals,
  assertInstanceOf,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { OPERATOR_CLIENT, type TestTailnet, withTailnet } from "../embedded/tailnet/testing.ts";
import type { TailscaleClient } from "./client.ts";
import {
  InvalidRequest,
  NameConflict,
  NotFound,
  NotOurs,
  ScopeMissing,
  TagsNotPermitted,
  Unavailable,
} from "./errors.ts";
import { clientFor, errorOf } from "./testing.ts";

const KEY = { tags: ["tag:k8s"], ephemeral: false, description: "apps/web-egress-0" };
const WEB = { name: "svc:web", addrs: [], ports: ["tcp:443"], tags: ["tag:web"] };

function withScopes({ api }: TestTailnet, ...scopes: string[]): void {
  api.updateClient(OPERATOR_CLIENT.clientId, { scopes });
}

Deno.test("M93 M237 an auth key is single-use, pre-authorized, and gives a node the tags asked for", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    const key = await client.createAuthKey({ ...KEY, ephemeral: true, expirySeconds: 600 });
    const node = t.net.register({ authKey: key.key, hostname: "web-egress-0" });
    assertEquals([node.tags, node.authorized, node.ephemeral], [["tag:k8s"], true, true]);
    assertEquals(Date.parse(key.expires ?? ""), t.clock.now() + 600_000);
    assertEquals(await client.getAuthKey(key.id), {
      id: key.id,
      description: "apps-web-egress-0",
      tags: ["tag:k8s"],
      invalid: true,
    });
  });
});

Deno.test("auth keys are listed, read and deleted; one that is gone is no error", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    const { id } = await client.createAuthKey(KEY);
    assertEquals(await client.listAuthKeys(), [{ id }]);
    await client.deleteAuthKey(id);
    await client.deleteAuthKey(id);
    assertEquals(await client.listAuthKeys(), []);
    assertEquals(await client.getAuthKey(id), undefined);
  });
});

Deno.test("tags that may not be given are named, with the client's own", async () => {
  await withTailnet({}, async (t) => {
    const tags = ["tag:k8s", "tag:foreign"];
    const error = await errorOf(clientFor(t).createAuthKey({ ...KEY, tags }));
    assertInstanceOf(error, TagsNotPermitted);
    assertEquals([error.status, error.tags, error.granted], [400, tags, ["tag:k8s-operator"]]);
    assertStringIncludes(error.message, '"tag:foreign": ["tag:k8s-operator"]');
  });
});

Deno.test("a tag of a wrong form, and no tag, are refused without a call", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    for (const tags of [["k8s"], ["tag:"], ["tag:1"], ["tag:a b"], []]) {
      const error = await errorOf(client.createAuthKey({ ...KEY, tags }));
      assertInstanceOf(error, TagsNotPermitted);
      assertEquals(error.status, undefined);
    }
    await assertRejects(() => client.putService({ ...WEB, tags: ["web"] }), TagsNotPermitted);
    assertEquals(t.api.requests, []);
  });
});

Deno.test("devices are listed whole, with connected and offline ones, and shared ones marked", async () => {
  await withTailnet({}, async (t) => {
    const api = t.net.addHost({ name: "api", ip: "100.64.0.10", tags: ["tag:api"] }).node;
    const shared = t.net.addHost({ name: "x.other.ts.net", external: true }).node;
    t.net.disconnect(shared.nodeId);
    assertEquals(await clientFor(t).listDevices(), [
      {
        id: api.id,
        nodeId: api.nodeId,
        name: "api.test.ts.net",
        hostname: "api",
        addresses: ["100.64.0.10"],
        tags: ["tag:api"],
        connectedToControl: true,
        authorized: true,
        isExternal: false,
        created: api.created,
        keyExpiryDisabled: true,
        isEphemeral: false,
      },
      {
        id: shared.id,
        nodeId: shared.nodeId,
        name: "x.other.ts.net",
        hostname: "x",
        addresses: shared.addresses,
        tags: [],
        connectedToControl: false,
        lastSeen: new Date(t.clock.now()).toISOString(),
        authorized: true,
        isExternal: true,
        created: "",
        keyExpiryDisabled: true,
        isEphemeral: false,
      },
    ]);
  });
});

Deno.test("a device is deleted; one that is gone is no error, a shared one is NotOurs", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    const { nodeId } = t.net.addHost({ name: "a" }).node;
    const shared = t.net.addHost({ name: "x.other.ts.net", external: true }).node;
    await client.deleteDevice(nodeId);
    await client.deleteDevice(nodeId);
    await assertRejects(() => client.deleteDevice(shared.nodeId), NotOurs);
    assertEquals((await t.net.nodes()).length, 1);
  });
});

Deno.test("an empty id, or one that is a path, is never sent", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    for (const id of ["", ".", "..", "a/b", "a?b"]) {
      await assertRejects(() => client.deleteDevice(id), InvalidRequest, "no id");
      await assertRejects(() => client.deleteAuthKey(id), InvalidRequest, "no id");
    }
    for (const name of ["", "svc:", "web", "svc:A", "svc:a/b", `svc:${"x".repeat(64)}`]) {
      await assertRejects(() => client.deleteService(name), InvalidRequest, "service name");
    }
    assertEquals(t.api.requests, []);
  });
});

Deno.test("a service is made, read, changed and deleted, under its literal colon", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    assertEquals(await client.getService("svc:web"), undefined);
    const annotations = { "tailscale.com/owner-references": '{"ownerRefs":[]}' };
    await client.putService({ ...WEB, annotations, comment: "ours" });
    const made = await client.getService("svc:web");
    assertEquals(made, {
      ...WEB,
      addrs: ["100.101.0.1", "fd7a:115c:a1e0::6501:1"],
      annotations,
      comment: "ours",
    });
    assert(made);
    await client.putService({ ...made, ports: ["tcp:80"] });
    assertEquals(await client.listServices(), [{ ...made, ports: ["tcp:80"] }]);
    await client.deleteService("svc:web");
    await client.deleteService("svc:web");
    const paths = t.api.requests.filter(({ method }) => method === "PUT").map(({ path }) => path);
    assertEquals(new Set(paths), new Set(["/api/v2/tailnet/-/vip-services/svc:web"]));
  });
});

Deno.test("a service that forgets its addresses, or names a device, is refused for what it is", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    await client.putService(WEB);
    await assertRejects(() => client.putService(WEB), InvalidRequest, "send them again");
    t.net.addHost({ name: "db" });
    await assertRejects(() => client.getService("svc:db"), NameConflict, "device");
    await assertRejects(() => client.putService({ ...WEB, name: "svc:db" }), NameConflict);
    const foreign = client.putService({ ...WEB, name: "svc:a", tags: ["tag:foreign"] });
    assertInstanceOf(await errorOf(foreign), TagsNotPermitted);
  });
});

Deno.test("hosts of a service are listed and approved", async () => {
  await withTailnet({}, async (t) => {
    const client = clientFor(t);
    assertEquals(await client.listServiceHosts("svc:web"), []);
    await client.putService(WEB);
    const { nodeId } = t.net.addHost({ name: "p", tags: ["tag:k8s"] }).node;
    t.net.advertise(nodeId, ["svc:web"]);
    const host = { nodeId, approvalLevel: "not-approved", configured: "ready" };
    assertEquals(await client.listServiceHosts("svc:web"), [host]);
    await client.approveServiceHost("svc:web", nodeId);
    assertEquals(await client.listServiceHosts("svc:web"), [
      { ...host, approvalLevel: "approved:manual" },
    ]);
  });
});

Deno.test("an empty list of services, which may be a 404, is not a missing scope", async () => {
  await withTailnet({}, async (t) => assertEquals(await clientFor(t).listServices(), []));
  await withTailnet({ tellGrant: false }, async (t) => {
    assertEquals(await clientFor(t).listServices(), []);
    assertEquals((await clientFor(t).checkScopes()).missing, []);
  });
});

Deno.test("a missing scope is named, for each kind of call", async () => {
  await withTailnet({}, async (t) => {
    withScopes(t, "policy_file:read");
    const calls: [string, (client: TailscaleClient) => Promise<unknown>][] = [
      ["devices:core", (client) => client.listDevices()],
      ["devices:core", (client) => client.deleteDevice("nA1")],
      ["auth_keys", (client) => client.createAuthKey(KEY)],
      ["auth_keys", (client) => client.deleteAuthKey("k1")],
      ["services", (client) => client.listServices()],
      ["services", (client) => client.getService("svc:web")],
      ["services", (client) => client.putService(WEB)],
      ["services", (client) => client.deleteService("svc:web")],
    ];
    for (const [scope, call] of calls) {
      const error = await errorOf(call(clientFor(t)));
      assertInstanceOf(error, ScopeMissing);
      assertEquals(error.scope, scope);
      assertStringIncludes(error.message, `"${scope}"`);
    }
  });
});

Deno.test("M231 checkScopes() names all missing scopes at once, also those granted for reading only", async () => {
  const cases: [string[], string[]][] = [
    [["devices:core", "auth_keys", "services"], []],
    [["all"], []],
    [["devices", "auth_keys", "services"], []],
    [["services"], ["devices:core", "auth_keys"]],
    [["devices:core", "auth_keys"], ["services"]],
    [["devices:core:read", "auth_keys", "services:read"], ["devices:core", "services"]],
    [[], ["devices:core", "auth_keys", "services"]],
  ];
  for (const [scopes, missing] of cases) {
    await withTailnet({}, async (t) => {
      withScopes(t, ...scopes);
      assertEquals((await clientFor(t).checkScopes()).missing, missing, `${scopes}`);
      const written = t.api.requests.filter(({ method, path }) =>
        method !== "GET" && !path.endsWith("/oauth/token")
      );
      assertEquals(written, []);
    });
  }
});

Deno.test("checkScopes() takes no outage for a missing scope, and says when the tailnet is unknown", async () => {
  await withTailnet({ tailnet: "acme.example" }, async (t) => {
    t.api.failNext({ status: 500, path: /keys/ });
    await assertRejects(() => clientFor(t).checkScopes(), Unavailable);
    const other = clientFor(t, { tailnet: "other.example" });
    await assertRejects(() => other.checkScopes(), NotFound, 'set tailnet to "-"');
    const own = clientFor(t, { tailnet: "acme.example" });
    assertEquals(await own.checkScopes(), { missing: [] });
  });
});

Deno.test("M65 the three scopes are enough for everything that the client does", async () => {
  await withTailnet({}, async (t) => {
    withScopes(t, "devices:core", "auth_keys", "services");
    const client = clientFor(t);
    const { id, key } = await client.createAuthKey(KEY);
    const { nodeId } = t.net.register({ authKey: key, hostname: "a" });
    await client.listAuthKeys();
    await client.getAuthKey(id);
    await client.listDevices();
    await client.putService(WEB);
    await client.getService("svc:web");
    await client.listServices();
    t.net.advertise(nodeId, ["svc:web"]);
    await client.approveServiceHost("svc:web", nodeId);
    await client.listServiceHosts("svc:web");
    await client.deleteService("svc:web");
    await client.deleteDevice(nodeId);
    await client.deleteAuthKey(id);
    assertEquals(await client.checkScopes(), { missing: [] });
    assertEquals(t.api.requests.filter(({ status }) => status === 403), []);
  });
});
