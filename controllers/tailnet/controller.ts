/**
 * The TailscaleTailnet controller.
 *
 * @module
 */
import { Label } from "../../core/labels.ts";
import { keyOf } from "../../core/object.ts";
import { SECRET } from "../../api/resources.ts";
import { TailscaleEndpoints } from "../../api/tailscale_endpoints.ts";
import { TailscaleTailnet } from "../../api/tailscale_tailnet.ts";
import { defineController } from "../controller.ts";
import { credentialKey, NAME, observeTailnet } from "./observe.ts";
import { planTailnet } from "./plan.ts";

/** Opens tailnets and keeps their devices known. */
export const tailnetController = defineController({
  name: NAME,
  type: TailscaleTailnet.resource,
  mappings: [
    {
      type: TailscaleEndpoints.resource,
      keys: (endpoints) => [(endpoints as TailscaleEndpoints).spec.tailnet],
    },
    {
      type: SECRET,
      keys: (secret, { objects, settings }) => {
        // A replica's state, where a new device shows up first.
        const tailnet = secret.metadata.labels?.[Label.tailnet];
        const key = keyOf(secret);
        const named = objects.list<TailscaleTailnet>(TailscaleTailnet.resource)
          .filter((candidate) => credentialKey(candidate, settings.namespace) === key)
          .map(keyOf);
        return tailnet ? [tailnet, ...named] : named;
      },
    },
  ],
  makes: [],
  keysOfTailnet: (tailnet) => [tailnet],
  observe: observeTailnet,
  plan: planTailnet,
  volatileStatus: ["deviceCount", "connectedDevices"],
});
