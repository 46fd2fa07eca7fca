import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { KubeClient } from "./client.ts";
import { Reflector } from "./reflector.ts";
import { Store } from "./store.ts";
import { HANG, rawChunk, rawJson, RawServer } from "./testing/raw.ts";
import { isWatch } from "./testing/reflector_rig.ts";
import {
  CONFIG_MAPS,
  type ConfigMap,
  configMap,
  failure,
  type Handler,
  listOf,
  ScriptedServer,
  until,
  WatchBody,
} from "./testing/scripted.ts";
import { createTransport, handlerTransport } from "./transport.ts";

Deno.test("Reflector waits for an API server that is down at start", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const clock = new FakeClock();
  const transport = createTransport({ server: `http://127.0.0.1:${port}`, caCerts: [] });
  const store = new Store<ConfigMap>();
  const retries: number[] = [];
  const reflector = new Reflector<ConfigMap>({
    client: new KubeClient(transport),
    type: CONFIG_MAPS,
    store,
    clock,
    random: () => 1,
    onChange() {},
    onFailure: (_error, ms) => retries.push(ms),
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  for (let i = 1; i <= 9; i++) {
    await until(() => retries.length === i && clock.pending === 1);
    if (i < 9) clock.advance(retries[i - 1]!);
  }
  assertEquals(retries, [250, 500, 1_000, 2_000, 4_000, 6_000, 6_000, 6_000, 6_000]);
  {
    const handler: Handler = (request) =>
      isWatch(request) ? new WatchBody().response : listOf([configMap("a", "10")], "10");
    await using _server = new ScriptedServer(handler, { port });
    clock.advance(30_000);
    await reflector.synced;
    assertEquals(store.size, 1);
    abort.abort();
    await running;
  }
  transport.close();
});

Deno.test("Reflector goes on at the last version when a connection breaks within an event", async () => {
  const clock = new FakeClock();
  const whole = JSON.stringify({ type: "ADDED", object: configMap("b", "11") }) + "\n";
  const cut = JSON.stringify({ type: "ADDED", object: configMap("c", "12") }).slice(0, 40);
  await using server = new RawServer((head) => {
    if (!head.includes("watch=")) {
      return rawJson({ metadata: { resourceVersion: "10" }, items: [] });
    }
    return head.includes("resourceVersion=10")
      ? rawChunk(whole + cut, "close")
      : rawChunk("\n", "hang");
  });
  const abort = new AbortController();
  const seen: string[] = [];
  const reflector = new Reflector<ConfigMap>({
    client: server.client,
    type: CONFIG_MAPS,
    store: new Store<ConfigMap>(),
    clock,
    onChange: ({ object }) => seen.push(object.metadata.name),
    onFailure: (_error, ms) => queueMicrotask(() => setTimeout(() => clock.advance(ms))),
  });
  const running = reflector.run(abort.signal);
  await until(() => server.heads.length === 3);
  assertEquals(seen, ["b"]);
  assert(server.heads[2]!.includes("resourceVersion=11"), "the event that was cut off comes again");
  abort.abort();
  await running;
});

Deno.test("figure 8: Reflector breaks off a silent watch in less than a minute, with the connection", async () => {
  const clock = new FakeClock();
  const list = rawJson({ metadata: { resourceVersion: "10" }, items: [] });
  const event = JSON.stringify({ type: "ADDED", object: configMap("a", "11") }) + "\n";
  // Everything after the first watch is dropped, as by a firewall.
  let dead = false;
  await using server = new RawServer((head) => {
    if (dead) return HANG;
    dead = head.includes("watch=");
    return dead ? rawChunk(event, "hang") : list;
  }, { clock });
  const errors: [message: string, at: number][] = [];
  const start = clock.now();
  const store = new Store<ConfigMap>();
  const reflector = new Reflector<ConfigMap>({
    client: server.client,
    type: CONFIG_MAPS,
    store,
    clock,
    onChange() {},
    onFailure: (error) => errors.push([(error as Error).message, clock.now() - start]),
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  await until(() => store.size === 1 && clock.pending === 1);
  clock.advance(30_000);
  await until(() => server.heads.length === 3);
  clock.advance(10_000);
  await until(() => errors.length === 1);
  assertEquals(errors, [[`${server.url}: the connection is dead`, 40_000]]);
  abort.abort();
  await running;
});

Deno.test("figure 7: Reflector lists soon when an API server is back, however long it was away", async () => {
  const clock = new FakeClock();
  let answer: "list" | "away" | "outdated" = "list";
  const transport = handlerTransport((request) => {
    if (answer === "away") throw new TypeError("connection refused");
    if (!isWatch(request)) return listOf([configMap("a", "10")], "10");
    const outdated = answer === "outdated";
    answer = outdated ? "list" : "away";
    return outdated ? failure(410, "Expired") : new Response("\n");
  }, { clock });
  const retries: number[] = [];
  const reflector = new Reflector<ConfigMap>({
    client: new KubeClient(transport, { clock }),
    type: CONFIG_MAPS,
    store: new Store<ConfigMap>(),
    clock,
    random: () => 1,
    onChange() {},
    onFailure: (_error, ms) => retries.push(ms),
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  for (let n = 1; n <= 9; n++) {
    await until(() => retries.length === n && clock.pending > 0);
    if (n === 8) answer = "outdated";
    if (n < 9) clock.advance(retries.at(-1)!);
  }
  assertEquals(retries.slice(-2), [6_000, 250]);
  abort.abort();
  await running;
});
