import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { Reflector, type ReflectorOptions, type ReflectorState } from "./reflector.ts";
import { type Change, Store } from "./store.ts";
import {
  CONFIG_MAPS,
  type ConfigMap,
  configMap,
  failure,
  type Handler,
  listOf,
  ScriptedServer,
  statusObject,
  until,
  WatchBody,
} from "./testing/scripted.ts";

/** A reflector against a scripted server, and what it did. */
class Rig implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly store = new Store<ConfigMap>();
  readonly changes: string[] = [];
  readonly states: ReflectorState["at"][] = [];
  readonly retries: number[] = [];
  readonly watches: WatchBody[] = [];
  readonly server: ScriptedServer;
  readonly reflector: Reflector<ConfigMap>;
  readonly abort = new AbortController();
  readonly running: Promise<void>;

  constructor(handler: (rig: Rig) => Handler, options: Partial<ReflectorOptions<ConfigMap>> = {}) {
    this.server = new ScriptedServer(handler(this));
    this.reflector = new Reflector<ConfigMap>({
      client: this.server.client,
      type: CONFIG_MAPS,
      store: this.store,
      clock: this.clock,
      random: () => 0.5,
      onChange: (change) => this.changes.push(describe(change)),
      onState: (state) => this.states.push(state.at),
      onFailure: (_error, ms) => this.retries.push(ms),
      ...options,
    });
    this.running = this.reflector.run(this.abort.signal);
  }

  /** Opens a watch that the test writes to. */
  watch(): Response {
    const body = new WatchBody();
    this.watches.push(body);
    return body.response;
  }

  /** Waits for the n-th failure, then lets its wait pass. */
  async passFailure(n: number): Promise<void> {
    await until(() => this.retries.length >= n && this.clock.pending > 0);
    this.clock.advance(this.retries[n - 1]!);
  }

  /** How often the server was asked to list, and to watch. */
  get counts(): { lists: number; watches: number } {
    const watches = this.server.queries().filter((query) => query.watch).length;
    return { lists: this.server.requests.length - watches, watches };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abort.abort();
    await this.running;
    await this.server[Symbol.asyncDispose]();
  }
}

function describe({ type, object }: Change<ConfigMap>): string {
  return `${type} ${object.metadata.name}@${object.metadata.resourceVersion}`;
}

function isWatch(request: Request): boolean {
  return new URL(request.url).searchParams.has("watch");
}

function queryOf(request: Request, name: string): string | null {
  return new URL(request.url).searchParams.get(name);
}

/** One object in the list, then watches that the test writes to. */
const oneObject = (rig: Rig): Handler => (request) =>
  isWatch(request) ? rig.watch() : listOf([configMap("a", "10")], "10");

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

Deno.test("Reflector lists again after an ERROR event 410, and makes up the deletes of the gap", async () => {
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

Deno.test("Reflector reconnects at the last version when the connection is reset", async () => {
  await using rig = new Rig(oneObject);
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("MODIFIED", configMap("a", "12"));
  await until(() => rig.changes.length === 2);
  rig.watches[0]!.reset();
  await rig.passFailure(1);
  await until(() => rig.watches.length === 2);
  assertEquals(rig.server.queries().map((q) => q.resourceVersion), [undefined, "10", "12"]);
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

Deno.test("Reflector tells nothing for an unchanged or older resourceVersion", async () => {
  await using rig = new Rig(oneObject);
  await until(() => rig.watches.length === 1);
  rig.watches[0]!.event("MODIFIED", configMap("a", "10"));
  rig.watches[0]!.event("MODIFIED", configMap("a", "9"));
  rig.watches[0]!.event("ADDED", configMap("z", "11"));
  await until(() => rig.changes.length === 2);
  assertEquals(rig.changes, ["added a@10", "added z@11"]);
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
