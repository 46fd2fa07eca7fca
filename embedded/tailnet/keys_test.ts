import { assertEquals, assertMatch, assertObjectMatch, assertThrows } from "@std/assert";
import { withTailnet } from "./testing.ts";

function keyFor(tags: unknown, more: Record<string, unknown> = {}) {
  return { capabilities: { devices: { create: { preauthorized: true, tags } } }, ...more };
}

function fields(json: unknown): Record<string, string> {
  return json as Record<string, string>;
}

Deno.test("a key is told once, admits one node, and is then invalid and no longer listed", async () => {
  await withTailnet({}, async ({ call, net }) => {
    const made = await call(
      "POST",
      "tailnet/-/keys",
      keyFor(["tag:k8s"], { description: "a-1 b" }),
    );
    const { id, key } = fields(made.json);
    assertMatch(`${key}`, /^tskey-auth-/);
    assertObjectMatch(fields(made.json), { description: "a-1 b" });
    assertEquals(await call("GET", "tailnet/-/keys"), { status: 200, json: { keys: [{ id }] } });
    const before = await call("GET", `tailnet/-/keys/${id}`);
    assertEquals([fields(before.json).key, fields(before.json).invalid], [undefined, undefined]);
    assertEquals(net.register({ authKey: `${key}`, hostname: "a" }).tags, ["tag:k8s"]);
    assertObjectMatch(fields((await call("GET", `tailnet/-/keys/${id}`)).json), { invalid: true });
    assertEquals((await call("GET", "tailnet/-/keys")).json, { keys: [] });
  });
});

Deno.test("a deleted key is gone and admits nobody", async () => {
  await withTailnet({}, async ({ call, net }) => {
    const { id, key } = fields(
      (await call("POST", "tailnet/-/keys", keyFor(["tag:k8s"]))).json,
    );
    assertEquals((await call("DELETE", `tailnet/-/keys/${id}`)).status, 200);
    assertEquals((await call("DELETE", `tailnet/-/keys/${id}`)).status, 404);
    assertEquals((await call("GET", `tailnet/-/keys/${id}`)).status, 404);
    assertThrows(() => net.register({ authKey: `${key}`, hostname: "a" }), Error, "revoked");
  });
});

Deno.test("a key lives 90 days or as long as asked for", async () => {
  await withTailnet({}, async ({ call, clock }) => {
    const lifeOf = async (more: Record<string, unknown>) => {
      const { json } = await call("POST", "tailnet/-/keys", keyFor(["tag:k8s"], more));
      return (Date.parse(`${fields(json).expires}`) - clock.now()) / 1000;
    };
    assertEquals(await lifeOf({}), 90 * 86_400);
    assertEquals(await lifeOf({ expirySeconds: 0 }), 90 * 86_400);
    assertEquals(await lifeOf({ expirySeconds: 600 }), 600);
  });
});

Deno.test("tags that the client may not give, and bad bodies, are refused with 400", async () => {
  await withTailnet({}, async ({ call }) => {
    for (const tags of [["tag:foreign"], ["tag:k8s", "tag:nobody"], ["k8s"], [], null]) {
      const { status, json } = await call("POST", "tailnet/-/keys", keyFor(tags));
      assertEquals(status, 400);
      assertMatch(
        `${fields(json).message}`,
        /^requested tags \[.*\] are invalid or not permitted$/,
      );
    }
    const bad = [
      {},
      keyFor("tag:k8s"),
      keyFor(["tag:k8s"], { description: "not_allowed" }),
      keyFor(["tag:k8s"], { description: "x".repeat(51) }),
      keyFor(["tag:k8s"], { expirySeconds: -1 }),
    ];
    for (const body of bad) {
      assertEquals((await call("POST", "tailnet/-/keys", body)).status, 400);
    }
  });
});
