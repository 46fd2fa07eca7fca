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

const LISTS: ReadonlyMap<number, "clusters" | "secrets" | "listeners" | "routes"> = new Map([
  [CLUSTERS, "clusters"],
  [SECRETS, "secrets"],
  [LISTENERS, "listeners"],
  [ROUTES, "routes"],
]);

/** Gives our clusters their endpoints, and hands back all else byte for byte. */
export const postTranslateModify: Hook = {
  method: "PostTranslateModify",
  point: "Translation",
  registered: true,
  run: translate,
};

function translate(snapshot: Snapshot, request: Uint8Array): HookResult {
  const response = new Splicer(request);
  const reader = new RevisionReader(request);
  const counts = { clusters: 0, secrets: 0, listeners: 0, routes: 0, edited: 0, unknown: 0 };
  const field = new FieldCursor(request);
  while (field.next()) {
    if (field.wireType !== LEN) continue;
    const element = { start: field.valueStart, end: field.end };
    if (field.number === CONTEXT) reader.readContext(element, [1]);
    const list = LISTS.get(field.number);
    if (!list) continue;
    counts[list]++;
    const name = list === "clusters" ? stringField(request, 1, element) : undefined;
    const edit = name === undefined ? undefined : snapshot.clusters.get(name);
    if (edit) {
      counts.edited++;
      response.addMessage(field.number - 1, rewriteCluster(request, element, edit.encoded));
    } else {
      if (name !== undefined && !isRouteCluster(name)) counts.unknown++;
      response.keepAs(field.number - 1, field);
    }
  }
  return {
    response: response.finish(),
    facts: {
      revisions: reader.revisions,
      counts: { ...counts, malformedResources: reader.malformed },
    },
  };
}
