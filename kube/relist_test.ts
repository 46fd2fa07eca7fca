import { assertEquals, assertLessOrEqual } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { EmbeddedApiServer } from "../embedded/apiserver/mod.ts";
import { KubeClient } from "./client.ts";
import { Reflector } from "./reflector.ts";
import { Store } from "./store.ts";
import { handlerTransport, type Transport } from "./transport.ts";
import { oneObject, Rig } from "./testing/reflector_rig.ts";
import { CONFIG_MAPS, type ConfigMap, until } from "./testing/scripted.ts";

const OBJECTS = 10_000, PAGE = 500;
const PATH = "http://api/api/v1/namespaces/default/configmaps";

/** An API server with so many objects. */
async function filled(clock: FakeClock): Promise<EmbeddedApiServer> {
  const api = new EmbeddedApiServer({ clock });
  for (let i = 0; i < OBJECTS; i++) {
    const name = `a-${String(i).padStart(5, "0")}`;
    const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
    await send(api, "POST", PATH, body);
  }
  return api;
}

async function send(api: EmbeddedApiServer, method: string, url: string, body?: string) {
  const headers = { "content-type": "application/json" };
  const init = { method, headers, ...(body ? { body } : {}) };
  await (await api.handle(new Request(url, init))).body?.cancel();
}

Deno.test("figure 11: a list of 10,000 objects, whose token expires on page 7 while some go and come, starts anew and is right", async () => {
  const clock = new FakeClock();
  const api = await filled(clock);
  const pages: string[] = [];
  let expired = false;
  const transport = handlerTransport(async (request) => {
    const { searchParams } = new URL(request.url);
    if (searchParams.has("watch")) return await api.handle(request);
    pages.push(
      `${searchParams.get("limit")}${searchParams.has("continue") ? "" : " from the start"}`,
    );
    if (pages.length === 7 && !expired) {
      expired = true;
      // Of a page that was read, and of one that was not.
      await send(api, "DELETE", `${PATH}/a-00001`);
      await send(api, "DELETE", `${PATH}/a-09999`);
      await send(
        api,
        "POST",
        PATH,
        JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new" } }),
      );
      const status = { kind: "Status", code: 410, reason: "Expired", message: "too old" };
      return Response.json(status, { status: 410 });
    }
    return await api.handle(request);
  }, { clock });
  const store = new Store<ConfigMap>();
  const reflector = new Reflector<ConfigMap>({
    client: new KubeClient(transport, { clock }),
    type: CONFIG_MAPS,
    store,
    clock,
    onChange() {},
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  await until(() => expired && clock.pending > 0);
  clock.advance(30_000);
  await reflector.synced;
  assertEquals(pages.filter((page) => page === `${PAGE} from the start`).length, 2);
  assertEquals(pages.length, 7 + OBJECTS / PAGE);
  assertEquals(store.size, OBJECTS - 1);
  const gone = ["a-00001", "a-09999"].filter((name) => store.get(`default/${name}`));
  assertEquals([gone, store.get("default/new")?.metadata.name], [[], "new"]);
  abort.abort();
  await running;
});

Deno.test("figure 12: after an hour of nothing but bookmarks a watch resumes without a list", async () => {
  await using rig = new Rig(oneObject);
  await until(() => rig.watches.length === 1);
  for (let n = 1; n <= 180; n++) { // every 20 s
    const watch = rig.watches.at(-1)!;
    const before = rig.reflector.lastEventAt;
    await until(() => rig.clock.pending === 1);
    rig.clock.advance(20_000);
    watch.event("BOOKMARK", { metadata: { resourceVersion: String(1_000 + n) } });
    await until(() => rig.reflector.lastEventAt > before);
    if (n % 18 > 0) continue;
    // As the server does after its timeout, here of 6 minutes.
    const count = rig.watches.length;
    watch.end();
    await until(() => rig.watches.length === count + 1);
    assertEquals(rig.server.queries().at(-1)?.resourceVersion, String(1_000 + n));
  }
  assertEquals(rig.counts, { lists: 1, watches: 11 });
  assertEquals(rig.changes, ["added a@10"]);
});

Deno.test("figure 8: what goes on while a watch is silently dead is known within 60 s, and nothing of it is missed", async () => {
  const clock = new FakeClock();
  const api = new EmbeddedApiServer({ clock });
  const make = (name: string) =>
    send(
      api,
      "POST",
      PATH,
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } }),
    );
  let silent = false;
  const seen: string[] = [];
  const gates = new Set<TransformStreamDefaultController<Uint8Array>>();
  const inner = handlerTransport(async (request) => {
    const response = await api.handle(request);
    if (!new URL(request.url).searchParams.has("watch") || !response.body) return response;
    // No packet comes through a connection from before, and no reset.
    let dead = false;
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => void gates.add(controller),
      transform: (chunk, controller) => {
        dead ||= silent;
        if (!dead) controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(gate), response);
  }, { clock });
  // As the transport over TLS does: a probe gets no answer for 10 s, and all is broken off.
  const suspect = () => {
    clock.setTimer(() => {
      for (const gate of gates) gate.error(new TypeError("the connection is dead"));
      silent = false; // what is opened anew works
    }, 10_000);
  };
  const transport: Transport = {
    request: (path, init) => inner.request(path, init),
    close: () => inner.close(),
    suspect,
  };
  const store = new Store<ConfigMap>();
  const reflector = new Reflector<ConfigMap>({
    client: new KubeClient(transport, { clock }),
    type: CONFIG_MAPS,
    store,
    clock,
    onChange: ({ type, object }) => seen.push(`${type} ${object.metadata.name}`),
  });
  const abort = new AbortController();
  const running = reflector.run(abort.signal);
  await make("a");
  await until(() => store.size === 1);
  silent = true;
  await make("b");
  await make("c");
  await send(api, "DELETE", `${PATH}/a`);
  await send(api, "DELETE", `${PATH}/b`);
  const began = clock.now();
  await until(() => {
    if (store.get("default/c")) return true;
    clock.advance(1_000);
    return false;
  });
  assertLessOrEqual(clock.now() - began, 60_000);
  await until(() => seen.length === 5);
  assertEquals(seen, ["added a", "added b", "added c", "deleted a", "deleted b"]);
  abort.abort();
  await running;
});
