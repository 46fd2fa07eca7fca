import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../core/clock_fake.ts";
import { withTailnet } from "../embedded/tailnet/testing.ts";
import { MalformedResponse, Unavailable } from "./errors.ts";
import { DeviceInventory } from "./inventory.ts";
import type { Device } from "./schemas.ts";
import { clientFor } from "./testing.ts";

function device(nodeId: string): Device {
  return {
    id: nodeId,
    nodeId,
    name: `${nodeId}.test.ts.net`,
    hostname: nodeId,
    addresses: [],
    tags: [],
    connectedToControl: true,
    authorized: true,
    isExternal: false,
    created: "",
  };
}

function ids(inventory: DeviceInventory): string[] {
  return inventory.devices.map(({ nodeId }) => nodeId);
}

/** A source whose reads the test ends. */
function manualSource() {
  const reads: PromiseWithResolvers<readonly Device[]>[] = [];
  const listDevices = () => {
    const read = Promise.withResolvers<readonly Device[]>();
    reads.push(read);
    return read.promise;
  };
  return { reads, source: { listDevices } };
}

Deno.test("M96 however many objects ask at once, the devices are listed once", async () => {
  await withTailnet({}, async (t) => {
    t.net.addHost({ name: "a" });
    const inventory = new DeviceInventory({ source: clientFor(t), clock: t.clock });
    await Promise.all(Array.from({ length: 100 }, () => inventory.refresh()));
    assertEquals(t.api.requests.filter(({ path }) => path.endsWith("/devices")).length, 1);
    assertEquals(inventory.devices.length, 1);
    assertEquals(inventory.fetchedAt, t.clock.now());
  });
});

Deno.test("a failed or partial read throws, and leaves the list, its time and its version", async () => {
  await withTailnet({}, async (t) => {
    const { nodeId } = t.net.addHost({ name: "a" }).node;
    t.net.addHost({ name: "b" });
    const inventory = new DeviceInventory({ source: clientFor(t), clock: t.clock });
    await inventory.refresh();
    const before = [inventory.devices, inventory.fetchedAt, inventory.version];
    t.clock.advance(600_000);
    const faults = [
      [{ status: 500 }, Unavailable],
      [{ status: 502, body: "<html>" }, Unavailable],
      [{ status: 200, body: "" }, MalformedResponse],
      [{ status: 200, body: "{}" }, MalformedResponse],
      [{ status: 200, body: '{"devices":[{"nodeId":7}]}' }, MalformedResponse],
      [{ mode: "half-json" }, MalformedResponse],
      [{ mode: "half-body" }, Unavailable],
    ] as const;
    for (const [fault, type] of faults) {
      t.api.failNext({ ...fault, path: /devices/ });
      await assertRejects(() => inventory.refresh(), type);
      assertEquals([inventory.devices, inventory.fetchedAt, inventory.version], before);
    }
    await inventory.refresh();
    assertEquals(inventory.fetchedAt, t.clock.now());
    assertEquals(inventory.byNodeId(nodeId)?.hostname, "a");
  });
});

Deno.test("the version grows with a change, and not with a read that finds the same", async () => {
  await withTailnet({}, async (t) => {
    const { nodeId } = t.net.addHost({ name: "a" }).node;
    const inventory = new DeviceInventory({ source: clientFor(t), clock: t.clock });
    const versions = [inventory.version];
    const changes = [
      () => {},
      () => {},
      () => t.net.addHost({ name: "b" }),
      () => t.net.disconnect(nodeId),
      () => {},
      () => t.net.connect(nodeId),
    ];
    for (const change of changes) {
      change();
      await inventory.refresh();
      versions.push(inventory.version);
    }
    assertEquals(versions, [0, 1, 1, 2, 3, 3, 4]);
  });
});

Deno.test("the order in which the API lists devices makes no change", async () => {
  let list = [device("b"), device("a")];
  const source = { listDevices: () => Promise.resolve(list) };
  const inventory = new DeviceInventory({ source, clock: new FakeClock() });
  await inventory.refresh();
  list = list.toReversed();
  await inventory.refresh();
  assertEquals([ids(inventory), inventory.version], [["a", "b"], 1]);
});

Deno.test("a removed device is gone at once, and a read that was under way does not bring it back", async () => {
  const { reads, source } = manualSource();
  const inventory = new DeviceInventory({ source, clock: new FakeClock() });
  const first = inventory.refresh();
  reads[0]?.resolve([device("a"), device("b")]);
  await first;
  const second = inventory.refresh();
  inventory.remove("a");
  assertEquals([ids(inventory), inventory.version], [["b"], 2]);
  assertEquals(inventory.byNodeId("a"), undefined);
  reads[1]?.resolve([device("a"), device("b")]);
  await second;
  assertEquals([ids(inventory), inventory.version], [["b"], 2]);
  inventory.remove("nobody");
  assertEquals(inventory.version, 2);
  const third = inventory.refresh();
  reads[2]?.resolve([device("a"), device("b")]);
  await third;
  assertEquals(ids(inventory), ["a", "b"]);
});

Deno.test("nobody can change the list that all share", async () => {
  const source = { listDevices: () => Promise.resolve([device("a")]) };
  const inventory = new DeviceInventory({ source, clock: new FakeClock() });
  assertEquals([inventory.devices, inventory.fetchedAt], [[], undefined]);
  await inventory.refresh();
  assert(Object.isFrozen(inventory.devices));
});
