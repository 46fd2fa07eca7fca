/**
 * Every controller; the operator runs this list.
 *
 * @module
 */
import type { Controller } from "./controller.ts";
import { endpointsController } from "./endpoints/controller.ts";
import { revisionController } from "./revision/controller.ts";
import { tailnetController } from "./tailnet/controller.ts";

/** All controllers. */
export const CONTROLLERS: readonly Controller[] = [
  tailnetController,
  endpointsController,
  revisionController,
];
