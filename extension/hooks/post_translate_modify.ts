/**
 * PostTranslateModify: all clusters and routes of a Gateway's Envoys, once per
 * translation. Here our clusters get their endpoints.
 *
 * @module
 */
import { isRouteCluster, type Snapshot } from "../snapshot.ts";
import { FieldCursor, LEN, stringField } from "../wire/fields.ts";
import { Splicer } from "../wire/splicer.ts";
import type { Hook, HookResult } from "./hook.ts";
import { RevisionReader } from "./revisions.ts";
import { rewriteCluster } from "./rewrite_cluster.ts";

/** Fields of `PostTranslateModifyRequest`; those of the response are one lower. */
const CONTEXT = 1, CLUSTERS = 2, SECRETS = 3, LISTENERS = 4, ROUTES = 5;

/** Gives our clusters their endpoints, and hands back all else byte for byte. */
export const postTranslateModify: Hook = {
  method: "PostTranslateModify",
  point: "Translation",
  registered: true,
  run: translate,
};

/** What a call is at work with. */
interface Translation {
  readonly snapshot: Snapshot;
  readonly request: Uint8Array;
  readonly response: Splicer;
  readonly counts: Record<keyof typeof ZERO, number>;
}

const ZERO = { clusters: 0, secrets: 0, listeners: 0, routes: 0, edited: 0, unknown: 0 };

function translate(snapshot: Snapshot, request: Uint8Array): HookResult {
  const reader = new RevisionReader(request);
  const work = { snapshot, request, response: new Splicer(request), counts: { ...ZERO } };
  const field = new FieldCursor(request);
  while (field.next()) {
    if (field.wireType !== LEN) continue;
    if (field.number === CONTEXT) {
      reader.readContext({ start: field.valueStart, end: field.end }, [1]);
    } else translateElement(work, field);
  }
  return {
    response: work.response.finish(),
    facts: {
      revisions: reader.revisions,
      counts: { ...work.counts, malformedResources: reader.malformed },
    },
  };
}

function translateElement(work: Translation, field: FieldCursor): void {
  const { counts, response } = work;
  switch (field.number) {
    case CLUSTERS:
      counts.clusters++;
      if (editCluster(work, field)) return;
      break;
    case SECRETS:
      counts.secrets++;
      break;
    case LISTENERS:
      counts.listeners++;
      break;
    case ROUTES:
      counts.routes++;
      break;
    default:
      return;
  }
  response.keepAs(field.number - 1, field);
}

/** Appends our version of the cluster at the cursor, if we have one. */
function editCluster(work: Translation, field: FieldCursor): boolean {
  const { snapshot, request, response, counts } = work;
  const element = { start: field.valueStart, end: field.end };
  const name = stringField(request, 1, element);
  const edit = snapshot.clusters.get(name);
  if (!edit) {
    if (!isRouteCluster(name)) counts.unknown++;
    return false;
  }
  counts.edited++;
  response.addMessage(CLUSTERS - 1, rewriteCluster(request, element, edit.encoded));
  return true;
}
