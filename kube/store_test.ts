import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { keyOf } from "../core/object.ts";
import { Store } from "./store.ts";
import { type ConfigMap, configMap } from "./testing/scripted.ts";

const names = (objects: readonly ConfigMap[]) => objects.map((o) => o.metadata.name);
const byValue = { indexes: { byValue: (o: ConfigMap) => Object.values(o.data) } };

Deno.test("upsert() tells what is new and what has changed", () => {
  const store = new Store<ConfigMap>();
  const first = configMap("a", "1");
  const second = configMap("a", "2");
  assertEquals(store.upsert(first), { type: "added", object: first });
  assertEquals(store.upsert(second), { type: "modified", object: second, old: first });
  assertEquals(store.get("apps/a"), second);
});

Deno.test("upsert() passes over equal and older resourceVersions", () => {
  const store = new Store<ConfigMap>();
  store.upsert(configMap("a", "100"));
  assertEquals(store.upsert(configMap("a", "100", "x")), undefined);
  assertEquals(store.upsert(configMap("a", "99")), undefined);
  assertEquals(store.get("apps/a")?.metadata.resourceVersion, "100");
});

Deno.test("upsert() takes any other version where versions are no numbers", () => {
  const store = new Store<ConfigMap>();
  store.upsert(configMap("a", "x2"));
  assertEquals(store.upsert(configMap("a", "x2")), undefined);
  assert(store.upsert(configMap("a", "x1")));
});

Deno.test("a write's late response does not bring a deleted object back, a new one does", () => {
  const store = new Store<ConfigMap>();
  store.upsert(configMap("a", "10"));
  store.remove(configMap("a", "12"));
  assertEquals(store.upsert(configMap("a", "11")), undefined);
  assertEquals(store.size, 0);
  assertEquals(store.upsert(configMap("a", "13"))?.type, "added");
});

Deno.test("remove() passes over a delete that is older than what is stored", () => {
  const store = new Store<ConfigMap>();
  store.upsert(configMap("a", "20"));
  assertEquals(store.remove(configMap("a", "15")), undefined);
  assertEquals(store.remove(configMap("a", "21"))?.type, "deleted");
  assertEquals(store.remove(configMap("a", "22")), undefined);
});

Deno.test("replace() adds, changes and makes up deletes, and leaves the unchanged alone", () => {
  const store = new Store<ConfigMap>(byValue);
  for (const name of ["a", "b", "c"]) store.upsert(configMap(name, "1", name));
  const kept = store.get("apps/b");
  const list = [configMap("b", "1", "b"), configMap("c", "5", "new"), configMap("d", "6", "d")];
  const changes = store.replace(list, { resourceVersion: "7" });
  assertEquals(changes.map((c) => `${c.type} ${c.object.metadata.name}`), [
    "modified c",
    "added d",
    "deleted a",
  ]);
  assertEquals(store.get("apps/b"), kept);
  assertEquals(names(store.byIndex("byValue", "c")), []);
  assertEquals(names(store.byIndex("byValue", "new")), ["c"]);
});

Deno.test("replace() keeps what was written while the list was under way", () => {
  const store = new Store<ConfigMap>();
  store.upsert(configMap("old", "3"));
  const since = store.mark();
  store.upsert(configMap("made", "21"));
  store.upsert(configMap("edited", "22"));
  const changes = store.replace([configMap("edited", "5")], { resourceVersion: "20", since });
  assertEquals(changes.map((c) => c.object.metadata.name), ["old"]);
  assertEquals(names(store.list()), ["edited", "made"]);
  assertEquals(store.get("apps/edited")?.metadata.resourceVersion, "22");
});

Deno.test("replace() takes the list for true after etcd was restored to an older state", () => {
  const store = new Store<ConfigMap>();
  store.upsert(configMap("a", "900"));
  store.upsert(configMap("b", "901"));
  store.remove(configMap("b", "902"));
  const since = store.mark();
  store.replace([configMap("a", "100")], { resourceVersion: "101", since });
  assertEquals(store.get("apps/a")?.metadata.resourceVersion, "100");
  assertEquals(store.upsert(configMap("b", "102"))?.type, "added");
});

Deno.test("lists are in the order of their keys, whatever order objects came in", () => {
  const store = new Store<ConfigMap>(byValue);
  for (const name of ["c", "a", "b"]) store.upsert(configMap(name, "1", "same"));
  assertEquals(names(store.list()), ["a", "b", "c"]);
  assertEquals(names(store.list("apps")), ["a", "b", "c"]);
  assertEquals(names(store.list("other")), []);
  assertEquals(names(store.byIndex("byValue", "same")), ["a", "b", "c"]);
});

Deno.test("byIndex() throws for an index that was not declared", () => {
  assertThrows(() => new Store<ConfigMap>().byIndex("nope", "x"), TypeError, "nope");
});

Deno.test("a list that was handed out does not change afterwards", () => {
  const store = new Store<ConfigMap>();
  store.upsert(configMap("a", "1"));
  const list = store.list();
  store.upsert(configMap("b", "2"));
  store.upsert(configMap("a", "3"));
  assertEquals(list, [configMap("a", "1")]);
});

Deno.test("events in any order, and twice, end in the newest state with exact indexes", () => {
  const event = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    value: fc.constantFrom("x", "y"),
    deleted: fc.boolean(),
  });
  const disorder = fc.array(fc.nat(), { maxLength: 80 });
  fc.assert(fc.property(fc.array(event, { maxLength: 30 }), disorder, (history, picks) => {
    // Every event at least once, some again, in any order.
    const order = [...picks.map((p) => p % Math.max(1, history.length)), ...history.keys()];
    order.sort((a, b) => (picks[a] ?? a) - (picks[b] ?? b));
    const store = new Store<ConfigMap>(byValue);
    for (const i of order) {
      const e = history[i];
      if (!e) continue;
      const object = configMap(e.name, String(i + 1), e.value);
      if (e.deleted) store.remove(object);
      else store.upsert(object);
    }
    const world = new Map<string, ConfigMap>();
    for (const [i, e] of history.entries()) {
      const object = configMap(e.name, String(i + 1), e.value);
      if (e.deleted) world.delete(keyOf(object));
      else world.set(keyOf(object), object);
    }
    assertEquals(store.list(), [...world.keys()].sort().map((key) => world.get(key)!));
    for (const value of ["x", "y"]) {
      const expected = [...world.values()].filter((o) => o.data.value === value);
      assertEquals(names(store.byIndex("byValue", value)), names(expected).sort());
    }
  }));
});
