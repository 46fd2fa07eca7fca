import { assert, assertEquals } from "@std/assert";
import { isWatch, oneObject, queryOf, Rig } from "./testing/reflector_rig.ts";
import { configMap, failure, listOf, statusObject, until } from "./testing/scripted.ts";

Deno.test("figure 9: Reflector lists again after an ERROR event 410, and makes up the deletes of the gap", async () => {
  await using rig = new Rig((rig) => (request, n) =>
    isWatch(request)
      ? rig.watch()
      : n === 0
      ? listOf([configMap("a", "10"), configMap("b", "11"), configMap("c", "12")], "12")
      : listOf([configMap("b", "11"), configMap("c", "30"), configMap("d", "31")], "40")
  );
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("ERROR", statusObject(410, "Expired"));
  await rig.passFailure(1);
  await until(() => rig.watches.length === 2);
  assertEquals(rig.changes.slice(3), ["modified c@30", "added d@31", "deleted a@10"]);
  assertEquals(rig.server.queries().at(-1)?.resourceVersion, "40");
});

Deno.test("Reflector lists again when a watch is answered with HTTP 410", async () => {
  await using rig = new Rig((rig) => (request, n) =>
    n === 1 ? failure(410, "Gone") : oneObject(rig)(request, n)
  );
  await rig.passFailure(1);
  await until(() => rig.watches.length === 1);
  assertEquals(rig.counts, { lists: 2, watches: 2 });
  assertEquals(rig.changes, ["added a@10"]);
});

Deno.test("Reflector notices a silent watch by its idle timeout, which every byte resets", async () => {
  await using rig = new Rig(oneObject, { idleTimeoutMs: 30_000 });
  await until(() => rig.watches.length === 1 && rig.clock.pending === 1);
  for (let i = 0; i < 4; i++) {
    const before = rig.reflector.lastEventAt;
    rig.clock.advance(20_000);
    rig.watches[0]!.write(" ");
    await until(() => rig.reflector.lastEventAt > before && rig.clock.pending === 1);
  }
  assertEquals(rig.watches.length, 1, "80 s with a byte each 20 s are not silence");
  rig.clock.advance(30_000);
  await rig.passFailure(1);
  await until(() => rig.watches.length === 2);
  await until(() => rig.watches[0]!.cancelled);
  assertEquals(rig.counts, { lists: 1, watches: 2 });
});

Deno.test("Reflector reads a list in pages, and starts it anew when the continue token expires", async () => {
  let expired = false;
  await using rig = new Rig((rig) => (request) => {
    if (isWatch(request)) return rig.watch();
    const token = queryOf(request, "continue");
    if (!token) return listOf([configMap("a", "10")], "20", "p2");
    if (token === "p2") return listOf([configMap("b", "11")], "20", "p3");
    if (!expired) {
      expired = true;
      return failure(410, "Expired");
    }
    return listOf([configMap("c", "12")], "20");
  });
  await rig.passFailure(1);
  await rig.reflector.synced;
  await until(() => rig.watches.length === 1);
  const pages = rig.server.queries().map((q) => `${q.limit} ${q.continue ?? "first"}`);
  assertEquals(pages.slice(0, 6), [
    "500 first",
    "500 p2",
    "500 p3",
    "500 first",
    "500 p2",
    "500 p3",
  ]);
  assertEquals(rig.changes, ["added a@10", "added b@11", "added c@12"]);
});

Deno.test("Reflector treats a kind that is not served as absent, and finds it once it is", async () => {
  let installed = false;
  await using rig = new Rig((rig) => (request, n) =>
    installed ? oneObject(rig)(request, n) : failure(404, "NotFound")
  );
  await rig.reflector.synced;
  assertEquals(rig.reflector.state.at, "absent");
  assert(rig.reflector.hasSynced);
  await until(() => rig.clock.pending === 1);
  installed = true;
  rig.reflector.retryNow();
  await until(() => rig.watches.length === 1);
  assertEquals(rig.changes, ["added a@10"]);
});

Deno.test("Reflector waits as long as Retry-After asks, in seconds or as a date", async () => {
  const wishes = ["37", new Date(Date.now() + 3_600_000).toUTCString()];
  await using rig = new Rig((rig) => (request, n) =>
    n < 2
      ? failure(n === 0 ? 429 : 503, "Busy", { headers: { "retry-after": wishes[n]! } })
      : oneObject(rig)(request, n)
  );
  await rig.passFailure(1);
  await rig.passFailure(2);
  await rig.reflector.synced;
  assertEquals(rig.retries, [37_000, 600_000], "an hour is more than it takes at its word");
});

Deno.test("Reflector does not call a server that closes at once in a tight loop", async () => {
  await using rig = new Rig(() => (request) =>
    isWatch(request) ? new Response("\n") : listOf([], "10")
  );
  for (let i = 1; i <= 4; i++) await rig.passFailure(i);
  assertEquals(rig.retries.slice(0, 4), [188, 375, 750, 1_500]);
  assertEquals(rig.counts.lists, 1);
});

Deno.test("Reflector backs off when every list is followed by 410", async () => {
  await using rig = new Rig(() => (request) =>
    isWatch(request) ? failure(410, "Expired") : listOf([], "10")
  );
  for (let i = 1; i <= 4; i++) await rig.passFailure(i);
  assertEquals(rig.retries.slice(0, 4), [188, 375, 750, 1_500]);
});

Deno.test("Reflector starts its backoff anew after an event", async () => {
  await using rig = new Rig(oneObject);
  for (let i = 1; i <= 3; i++) {
    await until(() => rig.watches.length === i);
    rig.watches[i - 1]!.event("MODIFIED", configMap("a", `${i + 10}`));
    await until(() => rig.changes.length === i + 1);
    rig.watches[i - 1]!.write("no event\n");
    await rig.passFailure(i);
  }
  assertEquals(rig.retries, [188, 188, 188]);
});

Deno.test("Reflector reads a list in one piece after its continue token has expired twice", async () => {
  await using rig = new Rig((rig) => (request) => {
    if (isWatch(request)) return rig.watch();
    if (!queryOf(request, "limit")) return listOf([configMap("a", "10")], "20");
    return queryOf(request, "continue")
      ? failure(410, "Expired")
      : listOf([configMap("a", "10")], "20", "p2");
  });
  await rig.passFailure(1);
  await rig.passFailure(2);
  await until(() => rig.watches.length === 1);
  assertEquals(rig.server.queries().map((q) => q.limit).slice(0, 5), [
    "500",
    "500",
    "500",
    "500",
    undefined,
  ]);
});

Deno.test("Reflector lists again when etcd was restored to an older state", async () => {
  await using rig = new Rig((rig) => (request, n) => {
    if (n === 0) return listOf([configMap("a", "900"), configMap("b", "901")], "901");
    if (n > 1) return isWatch(request) ? rig.watch() : listOf([configMap("a", "100")], "101");
    const details = { causes: [{ reason: "ResourceVersionTooLarge" }], retryAfterSeconds: 1 };
    return failure(504, "Timeout", { details });
  });
  await rig.passFailure(1);
  await until(() => rig.watches.length === 1);
  assertEquals(rig.retries, [1_000]);
  assertEquals(rig.changes.slice(2), ["modified a@100", "deleted b@901"]);
});

Deno.test("Reflector empties its store when the kind's CRD is removed", async () => {
  await using rig = new Rig((rig) => (request, n) =>
    n < 2 ? oneObject(rig)(request, n) : failure(404, "NotFound")
  );
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("DELETED", configMap("a", "20"));
  rig.watches[0]!.event("ADDED", configMap("b", "21"));
  rig.watches[0]!.end();
  await rig.passFailure(1);
  await until(() => rig.reflector.state.at === "absent");
  assertEquals(rig.changes, ["added a@10", "deleted a@20", "added b@21", "deleted b@21"]);
});

Deno.test("Reflector keeps its store while the API server forbids it to watch", async () => {
  await using rig = new Rig(() => (request) =>
    isWatch(request) ? failure(403, "Forbidden") : listOf([configMap("a", "10")], "10")
  );
  await rig.passFailure(1);
  await rig.passFailure(2);
  assertEquals(rig.counts.lists, 1);
  assertEquals(rig.changes, ["added a@10"]);
});
