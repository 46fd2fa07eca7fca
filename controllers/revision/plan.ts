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
import { fieldManagerOf, IDLE, type Plan } from "../controller.ts";
import type { RenderedGateway, World } from "../world.ts";

/** The controller's name. */
export const NAME = "revision";

/** A change is written this long after the last one of a burst. */
export const SETTLE_MS = 1_000;
/** However long a burst goes on, a change is written this long after its first. */
export const PATIENCE_MS = 5_000;
/** A revision that was not served is written again after this long, doubled each time. */
export const RETRY_MS = 5_000;
/**
 * So often at most, over some 5 minutes: an Envoy Gateway that has not called by
 * then is not there, and translates by itself when it comes back.
 */
export const MAX_REPEATS = 6;

/** Clocks that differ by more have been set. */
const CLOCKS_DIFFER_MS = 60_000;

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
  const { hash, changedAt, dirtySince } = rendered;
  const current = parseRevision(revision?.spec.revision);
  if (!revision) return writeAt(now, { gateway, revision: `${hash}.0`, now });
  if (current.hash !== hash) {
    const settled = Math.min(changedAt + SETTLE_MS, dirtySince + PATIENCE_MS);
    // What is to come was before the clock was set back.
    const due = changedAt > now ? now : settled;
    return writeAt(due, { gateway, revision: `${hash}.0`, now });
  }
  if (isServed(o) || current.count >= MAX_REPEATS) return IDLE;
  const wait = RETRY_MS * 2 ** current.count;
  const since = Math.max(writtenAt(revision), o.failedAt ?? 0);
  const due = since > now + CLOCKS_DIFFER_MS ? now : since + wait;
  return writeAt(due, { gateway, revision: `${hash}.${current.count + 1}`, now });
}

/**
 * Was the last call answered, and from what is rendered now? Envoy Gateway does not
 * repeat a translation that failed, and a call that ran while the hash was another
 * for a moment leaves Envoy with that.
 */
function isServed({ rendered, failedAt, servedHash }: RevisionObserved): boolean {
  return failedAt === undefined && (servedHash === undefined || servedHash === rendered?.hash);
}

/** When we wrote the revision, to the second. */
function writtenAt({ metadata }: TailscaleGatewayRevision): number {
  const manager = fieldManagerOf({ name: NAME });
  const ours = metadata.managedFields?.find((entry) => entry.manager === manager);
  return Date.parse(ours?.time ?? metadata.creationTimestamp ?? "") || 0;
}

interface Revision {
  readonly hash: string;
  readonly count: number;
}

/** Its parts; a text of another form has no hash of ours. */
function parseRevision(text = ""): Revision {
  const [, hash = "", count = "0"] = /^(.*)\.(\d{1,9})$/.exec(text) ?? [];
  return { hash, count: Number(count) };
}

function remove(revision: TailscaleGatewayRevision): Plan {
  return revision.metadata.deletionTimestamp ? IDLE : {
    actions: [{ do: "delete", type: TailscaleGatewayRevision.resource, object: revision }],
  };
}

/** Writes the revision when it is due. */
function writeAt(
  due: number,
  { gateway, revision, now }: { gateway: Gateway; revision: string; now: number },
): Plan {
  if (due > now) return { actions: [], wakeAt: due };
  const object = revisionOf(gateway, revision);
  return { actions: [{ do: "apply", type: TailscaleGatewayRevision.resource, object }] };
}

function revisionOf(
  gateway: Gateway,
  revision: string,
): KubeObject & Pick<TailscaleGatewayRevision, "spec"> {
  const { name, namespace, uid = "" } = gateway.metadata;
  return {
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
}
