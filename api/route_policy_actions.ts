/**
 * What a rule of a TailscaleRoutePolicy does with a request. The fields are those
 * of the Gateway API's filters.
 *
 * @module
 */

import { z } from "zod";
import {
  count,
  LIMITS,
  listByKeys,
  namespaceName,
  objectName,
  port,
  setOf,
  text,
} from "./fields.ts";
import { type FieldRule, withRules } from "./rules.ts";

const HEADER_NAME = "^[A-Za-z0-9!#$%&'*+\\-.^_`|~]+$";

/** The name of an HTTP header. */
export const headerName = () => text().regex(new RegExp(HEADER_NAME));

const header = () =>
  z.object({
    name: headerName().describe("The header's name; case does not matter."),
    value: text().describe("The header's value."),
  }).describe("A header.");

const headers = () => listByKeys(header(), { keys: ["name"], max: 16 });

const headerModifier = () =>
  z.object({
    set: headers().exactOptional().describe("Headers that get this value alone."),
    add: headers().exactOptional().describe("Headers that get this value beside what they have."),
    remove: setOf(headerName().describe("A header's name."), 16).exactOptional().describe(
      "Names of headers that are taken away.",
    ),
  });

const redirectPath = () =>
  withRules(
    z.object({
      type: z.enum(["ReplaceFullPath", "ReplacePrefixMatch"]).describe(
        "`ReplaceFullPath`: the whole path. `ReplacePrefixMatch`: the prefix that the rule matched.",
      ),
      replaceFullPath: text().exactOptional().describe("The new path, for ReplaceFullPath."),
      replacePrefixMatch: z.string().max(LIMITS.string).exactOptional().describe(
        "The new prefix, for ReplacePrefixMatch.",
      ),
    }),
    {
      rule:
        "self.type == 'ReplaceFullPath' ? has(self.replaceFullPath) && !has(self.replacePrefixMatch) : has(self.replacePrefixMatch) && !has(self.replaceFullPath)",
      message:
        "ReplaceFullPath goes with replaceFullPath, ReplacePrefixMatch with replacePrefixMatch",
      holds: ({ type, replaceFullPath, replacePrefixMatch }) =>
        (type === "ReplaceFullPath") === (replaceFullPath !== undefined) &&
        (type === "ReplacePrefixMatch") === (replacePrefixMatch !== undefined),
    },
  );

const REDIRECTS = [301, 302, 303, 307, 308];

const redirectStatus = () =>
  withRules(z.int().min(300).max(399), {
    rule: `self in [${REDIRECTS.join(", ")}]`,
    message: "a redirect is 301, 302, 303, 307 or 308",
    holds: (status) => REDIRECTS.includes(status),
  });

const redirect = () =>
  z.object({
    scheme: z.enum(["http", "https"]).exactOptional().describe(
      "The scheme of the new URL. By default that of the request.",
    ),
    hostname: objectName().exactOptional().describe(
      "The host of the new URL. By default that of the request.",
    ),
    port: port().exactOptional().describe(
      "The port of the new URL. By default that of its scheme, else of the listener.",
    ),
    path: redirectPath().exactOptional().describe(
      "The path of the new URL. By default that of the request.",
    ),
    statusCode: redirectStatus().default(302).describe(
      "The status of the answer: 301, 302, 303, 307 or 308.",
    ),
  });

const backendRef = () =>
  z.object({
    group: z.string().max(LIMITS.string).default("").describe(
      "The API group of the backend; empty for a Service.",
    ),
    kind: text(LIMITS.name).default("Service").describe("The kind of the backend."),
    name: objectName().describe("The backend's name."),
    namespace: namespaceName().exactOptional().describe(
      "The backend's namespace; another one than the object's own needs a ReferenceGrant there. By default the object's own.",
    ),
    port: port().exactOptional().describe("The backend's port; required for a Service."),
    weight: count().max(1_000_000).default(1).describe(
      "The backend's share of the requests, relative to the others'; 0 sends nothing.",
    ),
  }).describe("A backend.");

const route = () =>
  z.object({
    backendRefs: z.array(backendRef()).min(1).max(16).describe("The backends."),
  });

const rateLimit = () =>
  z.object({
    requests: count().max(1_000_000_000).describe("So many requests are let through in a unit."),
    unit: z.enum(["Second", "Minute", "Hour"]).describe("The unit of time."),
  });

const TYPES = [
  "Allow",
  "Deny",
  "Redirect",
  "RequestHeaderModifier",
  "ResponseHeaderModifier",
  "Route",
  "RateLimit",
] as const;

const actionFields = () => ({
  type: z.enum(TYPES).describe(
    "What is done. Allow, Deny, Redirect and Route decide about the request, and a rule has at most one of them; one that has none allows it.",
  ),
  statusCode: z.int().min(400).max(599).exactOptional().describe(
    "The status of the answer, for Deny. By default 403.",
  ),
  redirect: redirect().exactOptional().describe("Where the client is sent, for Redirect."),
  requestHeaderModifier: headerModifier().exactOptional().describe(
    "How the request's headers change, for RequestHeaderModifier.",
  ),
  responseHeaderModifier: headerModifier().exactOptional().describe(
    "How the answer's headers change, for ResponseHeaderModifier.",
  ),
  route: route().exactOptional().describe("Where the request goes instead, for Route."),
  rateLimit: rateLimit().exactOptional().describe(
    "How many requests are let through, for RateLimit; the others get 429.",
  ),
});

/** A field that a type of action needs, and that no other type takes. */
function fieldOf(
  type: string,
  field: string,
): FieldRule<Record<string, unknown> & { type: string }> {
  return {
    rule: `(self.type == '${type}') == has(self.${field})`,
    message: `type: ${type} and ${field} go together: the one needs the other`,
    holds: (action) => (action.type === type) === (action[field] !== undefined),
  };
}

/** What a rule does. */
export const action = () =>
  withRules(
    z.object(actionFields()),
    fieldOf("Redirect", "redirect"),
    fieldOf("RequestHeaderModifier", "requestHeaderModifier"),
    fieldOf("ResponseHeaderModifier", "responseHeaderModifier"),
    fieldOf("Route", "route"),
    fieldOf("RateLimit", "rateLimit"),
    {
      rule: "!has(self.statusCode) || self.type == 'Deny'",
      message: "statusCode is only for type: Deny",
      holds: ({ type, statusCode }) => statusCode === undefined || type === "Deny",
    },
  ).describe("What is done with a request.");

/** Actions that decide about the request; a rule has at most one of them. */
export const DECISIONS = ["Allow", "Deny", "Redirect", "Route"] as const;
