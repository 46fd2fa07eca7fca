/**
 * TailscaleEndpoints `apps/intranet` in its states, for tests.
 *
 * @module
 */
import { assert } from "@std/assert";
import { timestamp } from "../../core/conditions.ts";
import type { Secret } from "../../api/core_objects.ts";
import { SECRET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import type { Plan } from "../controller.ts";
import { endpoints, NOW, tailnet, usable } from "../testing/builders.ts";
import { assertReasonsListed, conditionOf } from "../testing/conditions.ts";
import { describe } from "../testing/describe.ts";
import { configOf, Model } from "../testing/model.ts";
import { endpointsController } from "./controller.ts";

/** A spec as users write it. */
export type Spec = Partial<Parameters<typeof TailscaleEndpoints.create>[1]>;

/** Plans and acts until there is nothing to do. */
export function run(model: Model, rounds?: number): string[] {
  return model.run(endpointsController, "apps/intranet", rounds);
}

/** What would be done now. */
export function plan(model: Model): Plan | undefined {
  return model.plan(endpointsController, "apps/intranet");
}

/** The actions of {@linkcode plan} in words. */
export function actions(model: Model): string[] {
  return (plan(model)?.actions ?? []).map(describe);
}

/** The status that the plan says; its reasons are checked to be those of the closed lists. */
export function status(model: Model): NonNullable<TailscaleEndpoints["status"]> {
  const status = plan(model)?.status as TailscaleEndpoints["status"];
  assert(status, "no status");
  assertReasonsListed(status, TailscaleEndpoints.conditions);
  return status;
}

/** A condition of that status, as `True Reason`. */
export function condition(model: Model, type: string): string | undefined {
  return conditionOf(status(model), type);
}

/** An object whose tailnet can be used, before anything was made for it. */
export function fresh(spec: Spec = {}): Model {
  const model = new Model(tailnet(), endpoints("intranet", spec));
  model.tailnets.set("corp", usable());
  return model;
}

/** An object at rest: pods run, and their devices are known. */
export function atRest(spec: Spec = {}): Model {
  const model = fresh(spec);
  run(model);
  model.runPods().logIn();
  run(model);
  know(model);
  run(model);
  return model;
}

/** The tailnet's devices are listed. */
export function know(model: Model): void {
  model.tailnets.set("corp", usable(model.devices));
}

/** The object as it is. */
export function live(model: Model): TailscaleEndpoints {
  const object = model.get<TailscaleEndpoints>(TailscaleEndpoints.resource, "apps/intranet");
  assert(object, "the object is gone");
  return object;
}

/** The user changes the spec. */
export function edit(model: Model, spec: Spec): void {
  model.put({ ...live(model), spec: endpoints("intranet", spec).spec });
}

/** The user deletes the object. */
export function remove(model: Model, at = NOW): void {
  const object = live(model);
  model.put({ ...object, metadata: { ...object.metadata, deletionTimestamp: timestamp(at) } });
}

/** A Secret of the object's namespace. */
export function secretOf(model: Model, name: string): Secret {
  const found = model.get<Secret>(SECRET, `apps/${name}`);
  assert(found, `no Secret ${name}`);
  return found;
}

/** The configuration of a replica. */
export function config(model: Model, index: number): Record<string, unknown> | undefined {
  return configOf(secretOf(model, `intranet-egress-${index}-config`));
}
