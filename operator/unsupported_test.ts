import { assertEquals, assertMatch } from "@std/assert";
import { keyOf, type KubeObject } from "../core/object.ts";
import { exampleObject } from "../api/reference.ts";
import { kindNamed } from "../api/registry.ts";
import { TailscaleServices } from "../api/tailscale_services.ts";
import { CONTROLLERS } from "../controllers/registry.ts";
import { conditionOf, statusIn } from "../controllers/testing/conditions.ts";
import { typeOf } from "./testing/admission.ts";
import { type TestWorld, withWorld } from "./testing/world.ts";

/** An object of each kind that no controller acts on yet. */
const OBJECTS = CONTROLLERS.filter(({ onlyStatus }) => onlyStatus)
  .flatMap(({ type }) => kindNamed(type.kind) ?? []).map(exampleObject);

function find(world: TestWorld, object: KubeObject): KubeObject | undefined {
  return world.find(typeOf(object), keyOf(object));
}

function isTold(world: TestWorld, object: KubeObject): boolean {
  const status = statusIn(find(world, object));
  const { ancestors: [first] = [] } = (status ?? {}) as { ancestors?: unknown[] };
  return conditionOf(first ?? status, "Accepted") === "False NotSupported";
}

async function tell(world: TestWorld): Promise<void> {
  await world.apply(...OBJECTS);
  world.start();
  for (const object of OBJECTS) {
    await world.until(`${object.kind} is told`, () => isTold(world, object));
  }
  await world.quiet();
}

Deno.test("M249 objects of kinds without a controller of their own are told NotSupported", () =>
  withWorld({}, async (world) => {
    await tell(world);
    assertEquals(OBJECTS.length, 4);
    const { text } = await world.http("/metrics");
    assertMatch(text, /controller_runtime_reconcile_total\{controller="services",.*\} [1-9]/);
  }));

Deno.test("an object that is not supported costs one write, none at rest, and goes at once", () =>
  withWorld({}, async (world) => {
    await tell(world);
    const statuses = world.takeWrites().filter((write) => write.endsWith("/status"));
    assertEquals(statuses.length, OBJECTS.length);
    await world.pass(20 * 60_000, 60_000);
    await world.apply(...OBJECTS);
    await world.quiet();
    assertEquals(world.takeWrites(), []);
    for (const object of OBJECTS) {
      await world.delete(object);
      assertEquals(find(world, object), undefined);
    }
    await world.quiet();
    assertEquals(world.takeWrites(), []);
  }));

Deno.test("the operator works where the CRDs of later kinds are missing, and takes them up", () =>
  withWorld({}, async (world) => {
    const path = /tailscaleservices/;
    world.fail({ path, times: 1_000, response: { status: 404 } });
    world.start();
    await world.until("hooks are served", () => world.operator.listening?.grpcPort);
    world.api.clearFaults();
    const [services] = OBJECTS.filter(({ kind }) => kind === TailscaleServices.kind);
    await world.apply(services as KubeObject);
    await world.until("told", () => {
      world.clock.skip(10_000);
      return isTold(world, services as KubeObject);
    });
  }));
