import { assertEquals } from "@std/assert";
import { silentLog } from "./log.ts";
import { isWatch, oneObject, Rig } from "./testing/reflector_rig.ts";
import { type ConfigMap, configMap, failure, listOf, until } from "./testing/scripted.ts";

Deno.test("Reflector lists, then applies what the watch tells", async () => {
  await using rig = new Rig(oneObject);
  await rig.reflector.synced;
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("ADDED", configMap("b", "11"));
  rig.watches[0]!.event("MODIFIED", configMap("a", "12"));
  rig.watches[0]!.event("DELETED", configMap("b", "13"));
  await until(() => rig.changes.length === 4);
  assertEquals(rig.changes, ["added a@10", "added b@11", "modified a@12", "deleted b@13"]);
  assertEquals(rig.states, ["listing", "watching"]);
});

Deno.test("Reflector goes on at the last version when the server closes the watch, without a list", async () => {
  await using rig = new Rig(oneObject);
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("MODIFIED", configMap("a", "12"));
  rig.watches[0]!.event("BOOKMARK", { metadata: { resourceVersion: "500" } });
  rig.watches[0]!.end();
  await until(() => rig.watches.length === 2);
  assertEquals(rig.server.queries().map((q) => q.resourceVersion), [undefined, "10", "500"]);
  assertEquals(rig.counts, { lists: 1, watches: 2 });
  assertEquals(rig.changes, ["added a@10", "modified a@12"]);
});

Deno.test("Reflector tells nothing for an unchanged or older resourceVersion", async () => {
  await using rig = new Rig(oneObject);
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("MODIFIED", configMap("a", "10"));
  rig.watches[0]!.event("MODIFIED", configMap("a", "9"));
  rig.watches[0]!.event("ADDED", configMap("z", "11"));
  await until(() => rig.changes.length === 2);
  assertEquals(rig.changes, ["added a@10", "added z@11"]);
});

Deno.test("Reflector stops at once when its signal aborts, while watching or waiting", async () => {
  const watching = new Rig(oneObject);
  await until(() => watching.watches.length === 1);
  watching.abort.abort();
  await watching.running;
  assertEquals(watching.reflector.state.at, "stopped");
  await until(() => watching.watches[0]!.cancelled);
  await watching[Symbol.asyncDispose]();

  const waiting = new Rig(() => () => failure(500, "InternalError"));
  await until(() => waiting.clock.pending === 1);
  waiting.abort.abort();
  await waiting.running;
  assertEquals(waiting.clock.pending, 0);
  await waiting[Symbol.asyncDispose]();
});

Deno.test("Reflector never has more than one watch connection", async () => {
  await using rig = new Rig(oneObject, { idleTimeoutMs: 30_000 });
  const open = () => rig.watches.filter((watch) => !watch.ended && !watch.cancelled).length;
  for (let i = 1; i <= 6; i++) {
    await until(() => rig.watches.length === i);
    assertEquals(open(), 1);
    rig.watches[i - 1]!.event("MODIFIED", configMap("a", `${i + 10}`));
    await until(() => rig.changes.length === i + 1);
    // By turns: garbled and closed.
    const failures = rig.retries.length;
    if (i % 2 === 0) rig.watches[i - 1]!.end();
    else rig.watches[i - 1]!.write("garbage\n");
    if (i % 2 !== 0) await rig.passFailure(failures + 1);
    await until(() => rig.watches.length === i + 1);
  }
});

Deno.test("Reflector tells nothing when a connection that is opened again repeats what is known", async () => {
  await using rig = new Rig((rig) => (request) => {
    if (!isWatch(request)) return listOf([configMap("a", "10"), configMap("b", "11")], "11");
    const response = rig.watch();
    rig.watches.at(-1)!.event("ADDED", configMap("a", "10"));
    rig.watches.at(-1)!.event("ADDED", configMap("b", "11"));
    return response;
  });
  for (let i = 1; i <= 3; i++) {
    await until(() => rig.watches.length === i);
    rig.watches[i - 1]!.end();
  }
  await until(() => rig.watches.length === 4);
  assertEquals(rig.changes, ["added a@10", "added b@11"]);
});

Deno.test("Reflector keeps of an object what trim leaves", async () => {
  const trim = ({ data: _data, ...rest }: ConfigMap) => ({ ...rest, data: {} });
  await using rig = new Rig(oneObject, { trim });
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("ADDED", configMap("b", "11", "secret"));
  await until(() => rig.changes.length === 2);
  assertEquals(rig.store.list().map((o) => o.data), [{}, {}]);
});

Deno.test("Reflector goes on when a handler of changes throws", async () => {
  const seen: string[] = [];
  const logged: string[] = [];
  await using rig = new Rig(oneObject, {
    onChange: ({ object }) => {
      seen.push(object.metadata.name);
      if (object.metadata.name === "a") throw new Error("handler");
    },
    log: { ...silentLog, error: (message) => void logged.push(message) },
  });
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("ADDED", configMap("b", "11"));
  await until(() => seen.length === 2);
  assertEquals(logged, ["a change could not be handled"]);
});

Deno.test("Reflector asks for its namespace and selectors, in list and watch alike", async () => {
  await using rig = new Rig(oneObject, { namespace: "apps", labelSelector: "a=b" });
  await until(() => rig.watches.length === 1);
  const paths = rig.server.requests.map(({ url }) =>
    `${url.pathname} ${url.searchParams.get("labelSelector")}`
  );
  assertEquals(paths, Array(2).fill("/api/v1/namespaces/apps/configmaps a=b"));
  const seconds = Number(rig.server.queries()[1]?.timeoutSeconds);
  assertEquals(seconds, 750, "between 600 and 900, by chance");
});

Deno.test("Reflector says when it last heard of the API server", async () => {
  await using rig = new Rig(oneObject);
  await until(() => rig.watches.length === 1 && rig.clock.pending === 1);
  rig.clock.advance(20_000);
  const before = rig.reflector.lastEventAt;
  rig.watches[0]!.event("BOOKMARK", { metadata: { resourceVersion: "20" } });
  await until(() => rig.reflector.lastEventAt > before);
  assertEquals(rig.reflector.lastEventAt - before, 20_000);
});
