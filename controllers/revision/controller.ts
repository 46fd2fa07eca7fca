/**
 * The TailscaleGatewayRevision controller. Its keys are those of Gateways.
 *
 * @module
 */
import { keyOf } from "../../core/object.ts";
import { GATEWAY } from "../../api/resources.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { defineController } from "../controller.ts";
import { NAME, observeRevision, planRevision } from "./plan.ts";

/** Keeps one revision for every Gateway whose routes have backends of ours. */
export const revisionController = defineController({
  name: NAME,
  type: GATEWAY,
  mappings: [{ type: TailscaleGatewayRevision.resource, keys: (revision) => [keyOf(revision)] }],
  makes: [TailscaleGatewayRevision.resource],
  followsHooks: true,
  observe: observeRevision,
  plan: planRevision,
});
