/**
 * Events have two forms, `v1` and `events.k8s.io/v1`, of the same stored objects:
 * what is written in one is read in the other, as `kubectl describe` needs.
 *
 * @module
 */
import { apiVersionOf, type KubeObject, type ResourceType } from "../../core/object.ts";
import { asObject, fields, type Json, type JsonMap, mapAt, setMember } from "./json.ts";

/** Field names of `v1` and what `events.k8s.io/v1` calls them. */
const NAMES: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["reportingComponent", "reportingController"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
];

const TO_CORE = new Map(NAMES.map(([core, events]) => [events, core]));
const TO_EVENTS = new Map(NAMES);

/** Is it a kind whose objects have two forms? */
export function isEvent(type: Pick<ResourceType, "group" | "kind">): boolean {
  return type.kind === "Event" && (type.group === "" || type.group === "events.k8s.io");
}

/** The object in the form of the kind; any but an Event is returned as it is. */
export function inFormOf(type: ResourceType, object: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(type);
  if (!isEvent(type) || object.apiVersion === apiVersion) return object;
  const names = type.group === "" ? TO_CORE : TO_EVENTS;
  const form: JsonMap = {};
  for (const [name, value] of Object.entries(fields(object))) {
    setMember(form, names.get(name) ?? name, value);
  }
  return asObject({ ...form, apiVersion, ...(type.group === "" ? coreTimes(form) : {}) });
}

/** The newer form says times otherwise; clients of the older one show these. */
function coreTimes(form: JsonMap): JsonMap {
  const series = mapAt(form, "series");
  const at = form["firstTimestamp"] ?? seconds(form["eventTime"]);
  const last = form["lastTimestamp"] ?? seconds(series?.["lastObservedTime"]) ?? at;
  const count = form["count"] ?? series?.["count"] ?? 1;
  const component = form["reportingComponent"];
  return {
    count,
    source: form["source"] ?? (component === undefined ? {} : { component }),
    ...(at === undefined ? {} : { firstTimestamp: at }),
    ...(last === undefined ? {} : { lastTimestamp: last }),
  };
}

/** `MicroTime` as `Time`. */
function seconds(time: Json | undefined): Json | undefined {
  return typeof time === "string" ? time.replace(/\.\d+Z$/, "Z") : undefined;
}
