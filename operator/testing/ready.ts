/**
 * The usual way of a test: to where all is well.
 *
 * @module
 */
import type { KubeObject } from "../../core/object.ts";
import type { TestWorld } from "./world.ts";
import { everything } from "./objects.ts";

/** The cluster of the route of `everything()`. */
export const CLUSTER = "httproute/apps/wiki/rule/0";

/** Applies everything, starts the operator, and waits until the endpoints are Ready. */
export async function getReady(
  world: TestWorld,
  objects: readonly KubeObject[] = everything(),
): Promise<void> {
  await world.apply(...objects);
  world.start();
  await bringToReady(world);
}

/** Plays Envoy Gateway once, and lets time pass until the endpoints are Ready. */
export async function bringToReady(world: TestWorld, key = "apps/wiki"): Promise<void> {
  await world.until("a revision", () => world.revision());
  await world.translate([CLUSTER], "apps/edge");
  await world.until(`${key} is Ready`, async () => {
    await world.quiet();
    if (world.condition(key)?.status === "True") return true;
    world.clock.skip(2_000); // new devices are looked for this often
    return false;
  });
  await world.quiet();
}
