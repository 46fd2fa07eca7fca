/**
 * TailscaleGatewayRevision: makes Envoy Gateway call the hooks again when what
 * they would render for one of its Gateways has changed, since it does not do
 * so by itself for a change of status, or of what is known of a tailnet.
 *
 * @module
 */
import { apiVersionOf, type KubeObject } from "../../core/object.ts";
import { Label, MANAGED_BY } from "../../core/labels.ts";
import type { Gateway } from "../../api/gateway_api.ts";
import { GATEWAY, GATEWAY_GROUP } from "../../api/resources.ts";
import { TailscaleGatewayRevision } from "../../api/tailscale_gateway_revision.ts";
import { IDLE, type Plan } from "../controller.ts";
import type { RenderedGateway, World } from "../world.ts";

/** The controller's name. */
export const NAME = "revision";

/** A change is written this long after the last one of a burst. */
export const SETTLE_MS = 1_000;
/** However long a burst goes on, a change is written this long after its first. */
export const PATIENCE_MS = 5_000;
/** A failed translation is asked for again after this long, doubled each time. */
export const RETRY_MS = 5_000;

/** The observation: a Gateway, its revision, and what hooks would render. */
export interface RevisionObserved {
  readonly gateway?: Gateway;
  readonly revision?: TailscaleGatewayRevision;
  /** Absent where no route of the Gateway has backends of ours. */
  readonly rendered?: RenderedGateway;
  /** When Envoy Gateway's last call for the Gateway failed, if it did. */
  readonly failedAt?: number;
  /** The hash of what its last call was answered from, since this process began. */
  readonly servedHash?: string;
}

/** Gathers what {@linkcode planRevision} decides on; the key is the Gateway's. */
export function observeRevision(world: World, key: string): RevisionObserved | undefined {
  if (!world.rendered) return undefined; // nothing is to be concluded from it yet
  const gateway = world.objects.get<Gateway>(GATEWAY, key);
  const revision = world.objects.get<TailscaleGatewayRevision>(
    TailscaleGatewayRevision.resource,
    key,
  );
  const rendered = world.rendered.get(key);
  const failedAt = world.hooks.failedAt.get(key);
  const servedHash = world.hooks.servedHash.get(key);
  if (!revision && (!gateway || !rendered)) return undefined;
  return {
    ...(gateway ? { gateway } : {}),
    ...(revision ? { revision } : {}),
    ...(rendered ? { rendered } : {}),
    ...(failedAt === undefined ? {} : { failedAt }),
    ...(servedHash === undefined ? {} : { servedHash }),
  };
}

/** Decides for one Gateway. */
export function planRevision(o: RevisionObserved, now: number): Plan {
  const { gateway, revision, rendered } = o;
  if (!gateway || gateway.metadata.deletionTimestamp) return IDLE; // collected with its Gateway
  if (!rendered) return revision ? remove(revision) : IDLE;
  const current = parseRevision(revision?.spec.revision);
  const written = current.hash === rendered.hash;
  if (written && o.failedAt !== undefined) return askAgain(o, { gateway, current, now });
  // The revision may say what is true again after a call in between was given something else.
  const served = o.servedHash === undefined || o.servedHash === rendered.hash;
  if (written && served) return IDLE;
  const due = revision
    ? Math.min(rendered.changedAt + SETTLE_MS, rendered.dirtySince + PATIENCE_MS)
    : now; // the first one waits for nothing
  if (due > now) return { actions: [], wakeAt: due };
  return write(gateway, `${rendered.hash}.${written ? current.count + 1 : 0}`);
}

/** Envoy Gateway does not repeat a translation that failed: a new revision makes it. */
function askAgain(
  { failedAt = 0, rendered }: RevisionObserved,
  { gateway, current, now }: { gateway: Gateway; current: Revision; now: number },
): Plan {
  const due = failedAt + RETRY_MS * 2 ** Math.min(current.count, 6);
  if (due > now) return { actions: [], wakeAt: due };
  return write(gateway, `${rendered?.hash}.${current.count + 1}`);
}

interface Revision {
  readonly hash: string;
  readonly count: number;
}

function parseRevision(text = ""): Revision {
  const dot = text.lastIndexOf(".");
  return dot < 0
    ? { hash: "", count: 0 }
    : { hash: text.slice(0, dot), count: Number(text.slice(dot + 1)) || 0 };
}

function remove(revision: TailscaleGatewayRevision): Plan {
  return revision.metadata.deletionTimestamp ? IDLE : {
    actions: [{ do: "delete", type: TailscaleGatewayRevision.resource, object: revision }],
  };
}

function write(gateway: Gateway, revision: string): Plan {
  const { name, namespace, uid = "" } = gateway.metadata;
  const object: KubeObject & Pick<TailscaleGatewayRevision, "spec"> = {
    apiVersion: apiVersionOf(TailscaleGatewayRevision.resource),
    kind: TailscaleGatewayRevision.kind,
    metadata: {
      name,
      ...(namespace ? { namespace } : {}),
      labels: { [Label.managedBy]: MANAGED_BY },
      ownerReferences: [{
        apiVersion: gateway.apiVersion,
        kind: gateway.kind,
        name,
        uid,
        controller: true,
      }],
    },
    spec: { targetRefs: [{ group: GATEWAY_GROUP, kind: "Gateway", name }], revision },
  };
  return { actions: [{ do: "apply", type: TailscaleGatewayRevision.resource, object }] };
}
